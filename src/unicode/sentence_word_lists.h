// The words of sentence_words.h by language. A word with * is a common word in other languages: it counts only if the
// language is given.
#pragma once

#include <array>
#include <string_view>

#include "unicode/sentence_words.h"

namespace tril {

/// The words of one language, each list as one text. The kinds are those of WordKind.
struct LanguageWords {
  std::string_view language;  ///< ISO 639-1
  bool ordinals = false;      ///< a numeral with a full stop is an ordinal number: "Ludwig XIV."
  std::string_view never_last = {}, before_number = {}, inner = {}, unit = {}, last = {}, label = {}, beginning = {},
                   counted = {}, before_counted = {};

  constexpr std::array<std::string_view, word_kinds> lists() const {
    return {never_last, before_number, inner, unit, last, label, beginning, counted, before_counted};
  }
};

inline constexpr std::array sentence_word_lists{
    // What many languages use.
    LanguageWords{.language = "",
                  .never_last = "dr mr mrs ms mx prof e.g i.e",
                  .before_number =
                      "no nr fig figs art arts abs sec sect ch chap cap p pp pg pag s vol vols ver v vv bd tab eq eqs "
                      "ex num op cf al n par para jan feb mar apr jun jul aug sep sept oct nov dec max min ca",
                  .inner = "st ste vs cf al sr jr inc ltd corp bros co ca circa approx incl excl resp ed eds",
                  .unit = "min",
                  .last = "p.m a.m b.c a.d b.c.e c.e"},
    LanguageWords{
        .language = "en",
        .never_last = "messrs capt sgt lt cmdr *hon rev mt viz",
        .before_number =
            "nos nrs ann app ref pt pts cl rr r.s ss para paras reg regs ser fol ll bk eqn eqns ext tel exh "
            "ex div apt ste",
        .inner = "esp maj gen gov rep reps *sen  pres adm col ft esq dept *est etal approx cir assn intl natl bldg "
                 "ave blvd mfg univ supp ed cont misc mgr asst assoc tech dist geo wm chas jas thos jos u.s u.k "
                 "u.n tues thurs",
        .label = "vitamin plan hepatitis type class grade group section part appendix figure table option team "
                 "point line room block annex exhibit model level phase category schedule step version letter note "
                 "key column row cell drive gate platform unit zone factor variable set case",
        .beginning = "The A An It He She They We You I This That These Those There Then But And In On At If When While "
                     "After Before As For However His Her Its Their Our My Your What Why How Who Where Some Many Most "
                     "All Not So To With From By Both Each Another Here Now Also Yet Nobody Nothing Everybody Everyone "
                     "Please Use See Note Do Does Did Is Are Was Were Can Could Should Would Will May Might Or Of "
                     "Since Because Although Though Until Unless Once Only Several Few Such Any Every Either Neither "
                     "No Yes Let Make Thus Therefore Meanwhile Instead Moreover Furthermore Today Yesterday Tomorrow "
                     "Later Soon Never Always Often Sometimes Perhaps Maybe Still Even Just Which Whose Than Under "
                     "Over Between During Without Within Among Against Through About Above Below"},
    LanguageWords{
        .language = "de",
        .ordinals = true,
        .never_last = "*hr hrn frl fr dipl *mag z.b d.h i.d.r d.i z.t z.zt o.g s.o s.u vgl bzw sog zzgl bspw ggf evtl "
                      "zb inkl exkl ing *med phil jur rer *nat sc *sen jun priv bzgl hl gebr *fa n.b",
        .before_number =
            "art § abs kap abb ziff anm rn rz lit bde bd tab taf aufl str jg bl sp hs kl okt dez mär jän tel "
            "nr nrn satz rdnr bsp vers",
        .inner = "ggfs geb verh gest ehem urspr insb insbes einschl entspr *gem lt allg bes bevollm dt engl frz griech "
                 "lat ital *span russ schwed *arab hist jhdt jh jhs jahrh mio mrd tsd stellv vors vorm nachm wiss "
                 "zus zul versch *mind durchschn tgl mtl kath evang str hbf bhf pl hrsg verf übers vgl wg zw abt "
                 "ges ing u.a u.u u.ä o.ä m.e a.d v.a e.v a.m d.j d.ä s.a b.z mögl möglw eigtl *od usf *bayer "
                 "schweiz österr südl nördl westl östl",
        .unit = "std min sek stk mio mrd tsd st pf ös",
        .last = "v.chr n.chr u.s.w u.s.f u.v.m u.v.a.m",
        .label = "vitamin typ plan gruppe klasse teil anhang punkt note stufe kategorie modell version variante",
        .beginning = "Der Die Das Er Sie Es Wir Ich Ihr Ein Eine Dann Da Dort Diese Dieser Dieses Aber Und Auch Im Am "
                     "Mit Nach Bei Vor Seit Für Wenn Als Wie Was Wer Wo Warum Nun Jetzt Hier Man Doch Seine Ihre Alle "
                     "Viele Auf Zum Zur Vom Nur Danach Später Sein Beim Bis Durch Ohne Gegen Um Zu Von An In Aus Über "
                     "Unter Zwischen Weil Obwohl Daher Deshalb Trotzdem Jedoch Heute Gestern Morgen Niemand Nichts "
                     "Jeder Jede Beide Einige Manche Keine Kein Ja Nein Bitte So Dabei Damit Dazu Davon Dafür Dagegen "
                     "Dies Ob Sobald Während Nachdem Bevor Schon Noch Sehr Immer Oft Manchmal Vielleicht Siehe Wird "
                     "Ist Sind War Hat Kann",
        .counted = "Januar Jänner Februar März April Mai Juni Juli August September Oktober November Dezember Jan "
                   "Feb Mär Apr Jun Jul Aug Sep Sept Okt Nov Dez Jahrhundert Jahrhunderts Jahrhunderten Weltkrieg "
                   "Weltkriegs Weltkrieges Auflage Kapitel Klasse Platz Stock Stockwerk Etage Geburtstag Band Liga "
                   "Bundesliga Runde Spieltag Jahrestag Lebensjahr Semester Bezirk Mal Tag Woche Monat Jahr Stelle",
        .before_counted =
            " am im vom zum zur beim der die das dem den des ein eine einen einem einer eines jeder jede jedes "
            "jeden jedem ihr ihre ihren ihrem ihrer sein seine seinen seinem seiner dieser diese dieses "
            "diesen unser unsere mein meine"},
    LanguageWords{
        .language = "fr",
        .never_last = "*mm mme mlle mgr *me *p.ex ex c.-à-d cf env dr",
        .before_number =
            "art chap fig p pp vol t n n° nº num § al alin janv févr avr juil sept déc tél éd réf ann livr "
            "sect tabl pl ch",
        .inner = "éd édit coll env apr *av bd blvd fg pl st ste ill trad *dir div dpt dép prof pr dr soc cie vs sq "
                 "suiv bibliogr hab réf tél p s.a",
        .last = "j.-c av.j.-c apr.j.-c",
        .label = "vitamine plan type classe groupe annexe partie point niveau catégorie modèle version",
        .beginning = "Le La Les L Il Elle Ils Elles On Nous Vous Je Tu Un Une Des Ce Cette Ces Cet C Mais Et Ou Puis "
                     "Dans Pour Avec Sur Si Quand Ensuite Son Sa Ses Leur Leurs Notre Votre Mon Ma Mes Que Qui Quoi Où "
                     "Comment Pourquoi Depuis Après Avant Pendant Alors Donc Car Cependant Toutefois Aussi Ainsi En Au "
                     "Aux Du De D J Tous Toutes Tout Chaque Plusieurs Certains Personne Rien Oui Non Voici Voilà "
                     "Aujourd Hier Demain Ici Là Par Sans Sous Entre Vers Chez Lorsque Comme Enfin Bien Qu N S Voir À "
                     "Deux Trois"},
    LanguageWords{
        .language = "es",
        .never_last = "sra sras sres srta srtas dra dras *ud *uds dña d.ª lic ing excmo excma ilmo ilma mons p.ej *ej "
                      "v.gr ee ff jj *cc aa.vv *sr srs",
        .before_number =
            "pág págs art arts cap caps fig figs núm núms nº n.º no tel tél vol vols ed ene abr *ago dic tomo "
            "sec secc par inc lib apdo ap",
        .inner = "predet *av avda ctra pza pl c/ dpto depto dto prov gral gob pdte cap *col cte *sto sta sdad cía ltda "
                 "hnos admn aprox máx mín trad coord comp ídem ibíd ee.uu uu",
        .unit = "*hab",
        .last = "a.c d.c a.de.c",
        .label = "vitamina tipo clase grupo anexo parte punto plan nivel categoría modelo hepatitis",
        .beginning = "El La Los Las Lo Un Una Unos Unas Él Ella Ellos Ellas Yo Tú Usted Ustedes Nosotros Pero Y O En "
                     "Con Para Por Cuando Si Esta Este Esto Estos Estas Ese Esa Eso Aquel Luego Entonces Después Antes "
                     "Durante Desde Hasta Su Sus Mi Mis Tu Tus Nuestro Nuestra Qué Quién Cómo Dónde Cuándo Porque "
                     "Aunque Sin Sobre Entre También Además Ahora Hoy Ayer Mañana Aquí Allí Nadie Nada Todos Todas "
                     "Todo Cada Muchos Muchas Algunos Algunas Sí No Se Al De Del Según Así Como Es Son Fue Era Hay"},
    LanguageWords{
        .language = "it",
        .never_last = "sig sigg sig.ra dott dott.ssa prof.ssa avv ing *arch geom *rag *on egr *gent spett ad.es *es "
                      "p.es mons cfr",
        .before_number =
            "pag pagg art artt cap capp fig figg n nn num tel vol voll tav tab gen *mag giu lug *set ott dic "
            "sez par lett cpv",
        .inner = "pagg *all ca c.so p.za p.zza v.le via ed trad s ss s.p.a s.r.l soc *on lgt ag",
        .last = "a.c d.c",
        .label = "vitamina tipo classe gruppo allegato parte punto piano livello categoria modello epatite",
        .beginning = "Il Lo La I Gli Le L Un Uno Una Egli Lui Lei Loro Noi Voi Io Tu Essi Esso Essa Questo Questa "
                     "Questi Queste Quello Quella Ma E O Poi Quando Se In Con Per Da Dal Dalla Di Del Della Su Sul "
                     "Sulla Nel Nella Nei Tra Fra Dopo Prima Durante Mentre Anche Inoltre Allora Quindi Però Tuttavia "
                     "Oggi Ieri Domani Qui Nessuno Niente Tutti Tutte Ogni Molti Molte Alcuni Alcune Sì No Non Si Che "
                     "Chi Come Dove Perché Cosa Suo Sua Suoi Mio Mia Al Alla Ai Secondo Così È Sono Era C Ci"},
    LanguageWords{
        .language = "pt",
        .never_last = "sra sras srs *sr dra dras profa eng exmo exma ilmo ilma p.ex v.exa v.s.a mons d.ª d *cel",
        .before_number =
            "pág págs art arts cap caps fig figs nº n.º núm tel vol vols ed fev abr *mai *ago *set *out dez "
            "inc al apt tab cp",
        .inner = "*av r trav pça *est dep depto gov min gen *sto sta ltda *cia lda trad org aprox máx mín *hab ex "
                 "obs s.a e.u.a",
        .last = "a.c d.c",
        .label = "vitamina tipo classe grupo anexo parte ponto plano nível categoria modelo hepatite",
        .beginning = "O A Os As Um Uma Uns Umas Ele Ela Eles Elas Eu Tu Você Vocês Nós Mas E Ou Em No Na Nos Nas Com "
                     "Para Por Pelo Pela Quando Se Este Esta Isto Isso Esse Essa Aquele Depois Antes Durante Desde Até "
                     "Seu Sua Seus Suas Meu Minha Que Quem Como Onde Porque Embora Sem Sobre Entre Também Além Então "
                     "Agora Hoje Ontem Amanhã Aqui Ali Ninguém Nada Todos Todas Todo Cada Muitos Muitas Alguns Algumas "
                     "Sim Não De Do Da Dos Das Ao À Segundo Assim É São Foi Era Há"},
    LanguageWords{
        .language = "nl",
        .never_last = "dhr mevr mw drs *ir ing *mr bijv b.v.b d.w.z m.a.w v.a t.a.v o.l.v jhr z.o.z a.h.w mgr t.n.v",
        .before_number = "blz p pag art nr nrs fig hfst dl tel jg afb vgl okt mrt par bijl lid hst",
        .inner = "o.a m.b.t i.v.m t.o.v i.p.v m.b.v b.v n.v t.b.v a.s j.l resp evt incl excl ca *gem wo zgn nl st "
                 "ned eng afd alg soc bv",
        .unit = "min sec st",
        .last = "v.chr n.chr e.d e.a a.u.b s.v.p",
        .label = "vitamine plan type klasse groep bijlage deel punt niveau categorie model",
        .beginning = "De Het Een Hij Zij Ze Wij We Ik Jij Je Jullie U Dit Dat Deze Die Maar En Of Toen Als Daarna Dan "
                     "In Op Met Voor Na Van Aan Bij Uit Om Te Door Over Onder Tussen Sinds Tot Zonder Er Daar Hier Nu "
                     "Ook Wie Wat Waar Waarom Hoe Wanneer Zijn Haar Hun Mijn Ons Onze Alle Veel Sommige Elke Niemand "
                     "Niets Iedereen Ja Nee Vandaag Gisteren Morgen Later Omdat Hoewel Terwijl Toch Dus Daarom Wel Zo "
                     "Zie Volgens"},
    LanguageWords{
        .language = "sv",
        .never_last = "t.ex bl.a d.v.s dvs s.k fr.o.m t.o.m f.d m.a.o jfr *hr prof *doc kand *fil *med tekn ex",
        .before_number = "s sid kap fig nr kl tel okt bil tab avd art § mom uppl",
        .inner = "ca resp inkl exkl ev milj bitr ordf f.n f.ö n.b p.g.a s:t st *eng lat bl t.f",
        .unit = "min tim sek st kr",
        .last = "f.kr e.kr m.m o.s.v m.fl e.d o.d",
        .label = "vitamin typ plan grupp klass del bilaga punkt",
        .beginning = "Den Det De En Ett Han Hon Vi Jag Du Ni Men Och Eller Då Sedan När Om I På Med För Efter Innan "
                     "Från Till Av Vid Under Över Mellan Här Där Nu Också Vem Vad Var Varför Hur Hans Hennes Deras Min "
                     "Alla Många Några Varje Ingen Inget Inga Ja Nej Idag Igår Denna Detta Dessa Att Som Dock Så "
                     "Därefter Man"},
    LanguageWords{.language = "da",
                  .ordinals = true,
                  .never_last = "f.eks bl.a dvs d.v.s såk m.a.o jf *hr prof cand *mag afd eks fx hhv",
                  .before_number = "s kap fig nr kl tel art stk § okt bd afs tlf",
                  .inner = "ca resp inkl ekskl evt pga mht mio mia *eng vedr tidl sml skt bl d f.v.t iht ifm",
                  .unit = "min sek kr stk",
                  .last = "f.kr e.kr m.m o.s.v m.fl o.l",
                  .label = "vitamin type plan gruppe klasse del bilag punkt",
                  .beginning =
                      "Den Det De En Et Han Hun Vi Jeg Du I Men Og Eller Da Så Derefter Når Hvis På Med For Efter Før "
                      "Fra Til Af Ved Under Over Mellem Her Der Nu Også Hvem Hvad Hvor Hvorfor Hvordan Hans Hendes "
                      "Deres Min Alle Mange Nogle Hver Ingen Intet Ja Nej Denne Dette Disse At Som Dog Man Siden Om"},
    LanguageWords{.language = "no",
                  .ordinals = true,
                  .never_last = "f.eks bl.a dvs d.v.s såk m.a.o jf *hr prof cand *mag eks hhv",
                  .before_number = "s kap fig nr kl tel art § okt bd avs tlf pkt",
                  .inner = "ca resp inkl ekskl evt pga mht *mill mrd *eng vedr tidl st bl f.o.m t.o.m iht ifm",
                  .unit = "min sek kr stk",
                  .last = "f.kr e.kr m.m o.s.v m.fl o.l",
                  .label = "vitamin type plan gruppe klasse del vedlegg punkt",
                  .beginning =
                      "Den Det De En Et Ei Han Hun Vi Jeg Du Men Og Eller Da Så Deretter Når Hvis I På Med For Etter "
                      "Før Fra Til Av Ved Under Over Mellom Her Der Nå Også Hvem Hva Hvor Hvorfor Hvordan Hans Hennes "
                      "Deres Min Alle Mange Noen Hver Ingen Ingenting Ja Nei Denne Dette Disse At Som Man Siden Om"},
    LanguageWords{.language = "fi",
                  .ordinals = true,
                  .never_last = "esim ns *prof *tri *os maist toht *hra rva nti ent",
                  .before_number = "s ss nro kpl puh n § mom klo taul",
                  .inner = "n *mm *ym engl lat saks ruots *ven synt k kuol vrt ks mrd milj huom eaa",
                  .unit = "min s kpl h t mk",
                  .last = "e.kr j.kr",
                  .label = "vitamiini tyyppi ryhmä luokka osa liite kohta",
                  .beginning =
                      "Hän Se Ne He Me Minä Sinä Te Tämä Tuo Nämä Mutta Ja Tai Sitten Kun Jos Ensin Myös Nyt Siellä "
                      "Täällä Kuka Mikä Missä Miksi Miten Kaikki Monet Jokainen Kukaan Ei Kyllä Eilen Tänään Huomenna "
                      "Vaikka Koska Siksi Silti Hänen Heidän"},
    LanguageWords{
        .language = "pl",
        .ordinals = true,
        .never_last =
            "np tj tzw tzn m.in mgr inż doc dr.hab św ks o.o prof hab *ul *al *os gen płk mjr kpt *red *im bp "
            "*hr *p p.o",
        .before_number = "nr str s rys tab poz art ust pkt § t r godz tel rozdz zob wyd zad paź lp ppkt",
        .inner = "*ok ur zm por zob pt wg tys mln mld pol ang niem łac *red oprac tłum woj pow *gm pl ws dot zw "
                 "daw sp.z sp",
        .unit = "r w godz min sek tys mln mld zł gr szt m",
        .last = "n.e p.n.e",
        .label = "witamina witaminy typ plan grupa grupy klasa klasy część załącznik punkt",
        .beginning = "On Ona Ono Oni One My Wy Ja Ty To Ten Ta Te Ci Ale I A Potem Wtedy Kiedy Gdy Jeśli W We Z Ze Na "
                     "Do Od Po Przed Za Przez Dla O U Przy Bez Nad Pod Między Tam Tu Teraz Dziś Wczoraj Jutro Kto Co "
                     "Gdzie Dlaczego Jak Jego Jej Ich Mój Nasz Wszyscy Wszystkie Każdy Nikt Nic Nie Tak Ponieważ "
                     "Jednak Więc Dlatego Również Także Czy Jest Był Była Są"},
    LanguageWords{
        .language = "cs",
        .ordinals = true,
        .never_last = "např tj tzv tzn mj ing mgr bc mudr judr phdr rndr *doc prof sv *p vlč gen plk pplk mjr kpt *ul "
                      "nám tř ph phd csc zák",
        .before_number = "vz č čl str s obr tab kap odst § r tel sv roz písm st hod viz vyd roč",
        .inner = "cca resp popř příp *event mil mld tis nar zemř *odd úst angl něm lat čes orig srov *ob př",
        .unit = "r tis mil mld kč hod min sek stol m st",
        .last = "n.l př.n.l",
        .label = "vitamín typ plán skupina třída část příloha bod",
        .beginning = "On Ona Ono Oni My Vy Já Ty To Ten Ta Tento Tato Toto Ale A I Pak Potom Když Pokud Jestli V Ve S "
                     "Se Na Do Od Po Před Za Pro O U Při Bez Nad Pod Mezi Tam Tady Nyní Teď Dnes Včera Zítra Kdo Co "
                     "Kde Proč Jak Jeho Její Jejich Můj Náš Všichni Každý Nikdo Nic Ne Ano Protože Proto Však Také Je "
                     "Byl Byla Z Ze K"},
    LanguageWords{
        .language = "hu",
        .ordinals = true,
        .never_last = "*pl *ill ún ifj *id özv prof",
        .before_number = "sz o ld vö köt tel § bek fej ábra",
        .inner = "kb ld vö sz szerk ford krt ált st gr ker",
        .unit = "sz old ker db",
        .last = "i.e i.sz kr.e kr.u",
        .label = "típusú vitamin csoport osztály rész",
        .beginning = "A Az Egy Ő Ők Én Te Mi Ti Ez Azt Ezt De És Vagy Akkor Amikor Ha Majd Azután Most Itt Ott Ki Hol "
                     "Mikor Miért Hogyan Minden Sok Néhány Senki Semmi Nem Igen Ma Tegnap Holnap Mert Ezért Azonban Is "
                     "Később Utána"},
    LanguageWords{
        .language = "ro",
        .never_last = "*dl dna dlui d-l d-na d-lui d-nei dra prof ing *conf lect acad sf de.ex *ex pr *col gen mr cpt",
        .before_number =
            "nr art alin pag p fig tab cap vol lit tel pct str bl sc ap et ian iun iul aug sept oct noi dec "
            "sec",
        .inner = "jud str *com mun bd șos cca aprox trad *red ed s.a s.r.l univ inst a.n",
        .unit = "mld min sec",
        .last = "î.hr d.hr î.e.n e.n ș.a.m.d",
        .label = "vitamina tip tipul clasa grupa anexa partea punctul planul",
        .beginning = "El Ea Ei Ele Eu Tu Noi Voi Un O Acest Această Aceste Acești Acesta Aceasta Dar Și Sau Apoi "
                     "Atunci Când Dacă În La Cu Pentru De Din Pe După Înainte Prin Fără Sub Între Aici Acolo Acum Azi "
                     "Ieri Mâine Cine Ce Unde Cum Toate Toți Fiecare Nimeni Nimic Nu Da Este Sunt Era A Au Totuși Deci "
                     "Să"},
    LanguageWords{
        .language = "tr",
        .ordinals = true,
        .never_last = "doç yrd sn *av öğr örn bkz krs uzm *op alb yzb haz müd t.c",
        .before_number = "s sf no cilt bkz madde md tel şek sok cad apt m",
        .inner = "*mah *cad *sok *apt blv ltd şti vd ing alm fr ar *far çev haz ort yy m.ö m.s a.ş",
        .unit = "yy dk sn sa",
        .label = "vitamini tipi sınıfı bölüm ek grubu",
        .beginning = "O Bu Şu Onlar Biz Ben Sen Siz Ama Ve Fakat Ancak Sonra Daha Önce Eğer Bir Her Bütün Bazı Hiç Kim "
                     "Ne Nerede Neden Nasıl Şimdi Bugün Dün Yarın Burada Orada Evet Hayır Çünkü Böylece Ayrıca Onun "
                     "Bunun Bunlar"},
    LanguageWords{.language = "el",
                  .never_last = "κ κκ κα δρ καθ π.χ δηλ βλ αγ στρτ προέδρ υπ",
                  .before_number = "σελ σ αρ αριθ κεφ εικ πιν άρθ τηλ τόμ παρ σχ τ",
                  .inner = "λ.χ δ.σ η.π.α α.ε λεωφ οδ πλ μεταφ εκδ περ συγκ κατ",
                  .last = "π.μ μ.μ π.χρ μ.χρ μ.χ κ.λπ κ.ά κ.λ.π κ.ο.κ",
                  .beginning =
                      "Ο Η Το Οι Τα Ένας Μια Ένα Αυτός Αυτή Αυτό Αλλά Και Ή Μετά Τότε Όταν Αν Στο Στη Στην Στον Με Για "
                      "Από Δεν Δε Ναι Όχι Εδώ Εκεί Τώρα Σήμερα Χθες Ποιος Τι Πού Γιατί Πώς Όλοι Όλα Κάθε Κανείς Επίσης "
                      "Όμως"},
    LanguageWords{.language = "ca",
                  .never_last = "sra srta dra *sr p.ex excm mons",
                  .before_number = "pàg pàgs art núm cap fig tel vol gen febr set oct des",
                  .inner = "*av pl c/ dept prov ed trad sta st",
                  .last = "a.c d.c",
                  .beginning =
                      "El La Els Les L Un Una Uns Unes Ell Ella Ells Jo Tu Vostè Nosaltres Però I O En Amb Per Quan Si "
                      "Aquest Aquesta Això Aleshores Després Abans Durant Des Fins Seu Què Qui Com On Perquè Encara "
                      "Sense Sobre També Ara Avui Ahir Demà Aquí Ningú Res Tots Cada Molts No Sí És Són Era Hi"},
    LanguageWords{.language = "sk",
                  .ordinals = true,
                  .never_last = "napr tj tzv tzn mj ing mgr bc mudr judr phdr rndr *doc prof sv *p gen plk kpt nám csc",
                  .before_number = "vz č čl str s obr tab kap ods § r tel zv písm hod pozri roč",
                  .inner = "cca resp príp *ob lat angl nem *odd ul orig porov zn min",
                  .unit = "r tis mil mld hod sek stor",
                  .last = "n.l pr.n.l",
                  .label = "vitamín typ plán skupina trieda časť príloha bod",
                  .beginning =
                      "On Ona Ono Oni My Vy Ja Ty To Ten Tá Tento Táto Toto Ale A I Potom Keď Ak V Vo S So Na Do Od Po "
                      "Pred Za Pre O U Pri Bez Nad Pod Medzi Tam Tu Teraz Dnes Včera Zajtra Kto Čo Kde Prečo Ako Jeho "
                      "Jej Ich Môj Náš Všetci Každý Nikto Nič Nie Áno Pretože Preto Však Tiež Je Bol Bola Z Zo K"},
    LanguageWords{.language = "sl",
                  .ordinals = true,
                  .never_last = "npr tj t.i dr mag prof ing sv gl gen doc oz",
                  .before_number = "št str čl sl tab pogl odst § tel ur",
                  .inner = "*ok roj umr angl nem lat cca ang slov ul",
                  .unit = "st min ur let",
                  .last = "pr.n.št n.št",
                  .beginning =
                      "On Ona Ono Oni Mi Vi Jaz Ti To Ta Ampak In A Potem Ko Če V Na Do Od Po Pred Za O Pri Brez Nad "
                      "Pod Med Tam Tu Zdaj Danes Včeraj Jutri Kdo Kaj Kje Zakaj Kako Njegov Njen Vsi Vsak Nihče Nič Ne "
                      "Da Ker Zato Tudi Je Bil Bila Z S K"},
    LanguageWords{
        .language = "hr",
        .ordinals = true,
        .never_last = "npr tj tzv dr mr sc prof ing sv gđa gosp dipl *doc gen bl mons",
        .before_number = "br str čl sl tab pogl st § tel *god toč usp",
        .inner = "oko rođ umr engl njem lat cca op ul trg hrv *sur min",
        .unit = "st *god min sek kn tis mil mlrd",
        .last = "pr.kr n.e p.n.e pos.kr",
        .label = "vitamin tip plan grupa klasa dio prilog točka",
        .beginning = "On Ona Ono Oni Mi Vi Ja Ti To Taj Ta Ovaj Ova Ovo Ali I A Zatim Kad Kada Ako U Na Do Od Po Prije "
                     "Za O Pri Bez Nad Pod Između Tamo Tu Sada Danas Jučer Sutra Tko Što Gdje Zašto Kako Njegov Njen "
                     "Svi Svaki Nitko Ništa Ne Da Jer Zato Također Je Bio Bila S Sa Iz Nakon Kasnije"},
    LanguageWords{.language = "sr",
                  .ordinals = true,
                  .never_last = "npr tj tzv dr mr prof ing sv gđa нпр тј тзв *др мр проф инж св госп г-ђа",
                  .before_number = "br str čl sl tab бр стр чл сл таб тел глава",
                  .inner = "oko rođ umr engl nem lat ul око рођ енгл нем лат ул срп",
                  .unit = "*god v vek st год в мин сек дин хиљ",
                  .last = "n.e p.n.e н.е п.н.е",
                  .beginning =
                      "On Ona Oni Mi Vi Ja To Ali I A Kada Ako U Na Posle Danas Он Она Оно Они Ми Ви Ја То Тај Та Овај "
                      "Ова Али И А Затим Када Ако У На До Од По Пре За О При Без Тамо Ту Сада Данас Јуче Сутра Ко Шта "
                      "Где Зашто Како Његов Њен Сви Нико Ништа Не Да Јер Зато Такође Из Након После"},
    LanguageWords{
        .language = "et",
        .ordinals = true,
        .never_last = "nt s.t dr prof hr pr mag",
        .before_number = "lk nr ptk joon tel lg § p",
        .inner = "ca u vt sünd surn ingl sks lad eks",
        .unit = "a s min krt tk",
        .last = "e.kr p.kr jne",
        .beginning = "Ta See Nad Me Ma Mina Sina Te Aga Ja Või Siis Kui Pärast Enne Nüüd Siin Seal Täna Eile Homme Kes "
                     "Mis Kus Miks Kuidas Kõik Iga Keegi Ei Jah Sest Kuid Ka Tema Nende"},
    LanguageWords{.language = "lt",
                  .ordinals = true,
                  .never_last = "pvz t.y vad doc prof dr inž kun šv gyd pulk gen *p",
                  .before_number = "nr psl str pav lent sk tel § p d",
                  .inner = "apie žr plg gim angl *lot g pl a pr al mln tūkst",
                  .unit = "m d *val min mln mlrd tūkst eur",
                  .last = "m.e pr.m.e",
                  .beginning =
                      "Jis Ji Jie Jos Mes Jūs Aš Tu Tai Tas Ta Šis Ši Bet Ir Ar Tada Kai Jei Po Prieš Dabar Čia Ten "
                      "Šiandien Vakar Rytoj Kas Kur Kodėl Kaip Visi Kiekvienas Niekas Ne Taip Nes Todėl Jo"},
    LanguageWords{
        .language = "lv",
        .ordinals = true,
        .never_last = "piem t.i t.s dr prof inž sv k-gs k-dze",
        .before_number = "nr lpp att tab sk tel § p",
        .inner = "apm angl lat dz mir plkst u.c",
        .unit = "g gs gadsimts min tūkst milj",
        .last = "p.m.ē m.ē u.t.t",
        .beginning = "Viņš Viņa Viņi Mēs Jūs Es Tu Tas Tā Šis Šī Bet Un Vai Tad Kad Ja Pēc Pirms Tagad Šeit Tur Šodien "
                     "Vakar Rīt Kas Kur Kāpēc Kā Visi Katrs Neviens Nē Jā Jo Tāpēc Arī"},
    LanguageWords{.language = "id",
                  .never_last = "bpk sdr sdri drs ir *ny *tn hj *h jl kol tgl dra yth misalnya",
                  .before_number = "hlm hal no ps pasal tel tgl bab jam",
                  .inner = "tgl kab kec kel prov dkk",
                  .last = "s.m",
                  .beginning =
                      "Dia Ia Mereka Kami Kita Saya Aku Anda Itu Ini Tetapi Tapi Dan Atau Kemudian Ketika Jika Setelah "
                      "Sebelum Sekarang Di Ke Dari Pada Untuk Dengan Siapa Apa Mengapa Bagaimana Semua Setiap Tidak Ya "
                      "Karena Namun Juga"},
    LanguageWords{
        .language = "ru",
        .never_last =
            "т.е т.к т.н т.о и.о им проф акад доц напр см ср г-н г-жа гр тов ул пр-т просп пер наб бул пл б.г "
            "д-р св преп ген полк кап лейт инж архит т.ч о сокр",
        .before_number =
            "стр рис гл табл ст п пп д кв т тт № с илл разд ч изд вып кн корп к тел янв фев февр мар апр авг "
            "сент сен окт нояб ноя дек § абз",
        .inner = "ок св обл р-н респ нем англ фр лат греч рус франц итал исп род ред сост пер науч техн кор вкл "
                 "макс мин мн пос с дер ж.-д сер нач кон пол тыс млн млрд руб",
        .unit = "г гг в вв руб коп млн млрд тыс чел ч мин сек ед м шт экз р л кг",
        .last = "т.д т.п н.э до.н.э др пр",
        .label = "витамин витамина тип типа план группа группы класс класса часть приложение пункт",
        .beginning = "Он Она Они Оно Мы Вы Я Ты Это Этот Эта Эти Тот Та Те Но И А Или В Во На С Со К По За От До Из У "
                     "О Об Для При Без Над Под Между После Перед Так Потом Затем Когда Если Как Что Кто Где Почему "
                     "Тогда Там Тут Здесь Сейчас Теперь Сегодня Вчера Завтра Его Её Ее Их Мой Наш Все Всё Каждый Никто "
                     "Ничего Не Нет Да Потому Поэтому Однако Также Хотя Был Была Было Были Один Одна Некоторые Многие "
                     "Впрочем Кроме Позже"},
    LanguageWords{
        .language = "uk",
        .never_last = "т.зв тобто ім проф акад доц напр див пор гр вул просп пров бульв пл св ген інж зокр т.ч *о сп п",
        .before_number =
            "стор рис гл табл ст п пп буд кв т № с розд ч вид вип кн тел січ лют бер квіт трав черв лип серп "
            "вер жовт лист груд § абз",
        .inner = "бл обл р-н респ нім англ фр лат грец рос укр нар ред м с смт тис млн млрд грн о ім",
        .unit = "р рр ст грн коп млн млрд тис осіб год хв сек",
        .last = "т.д т.п н.е до.н.е ін",
        .label = "вітамін вітаміну тип план група клас частина додаток пункт",
        .beginning = "Він Вона Вони Воно Ми Ви Я Ти Це Цей Ця Ці Той Та Ті Але І Й А Або В У На З Із До По За Від Для "
                     "При Без Над Під Між Після Перед Так Потім Коли Якщо Як Що Хто Де Чому Тоді Там Тут Зараз Тепер "
                     "Сьогодні Вчора Завтра Його Її Їх Мій Наш Усі Всі Все Кожен Ніхто Нічого Не Ні Тому Однак Також "
                     "Хоча Був Була Було Були"},
    LanguageWords{
        .language = "bg",
        .never_last = "т.е т.нар напр проф акад доц инж д-р св ул бул пл г-н г-жа вж срв гр ген полк м-р арх",
        .before_number = "стр фиг гл табл чл ал т с бр тел № кн изд ян февр апр авг септ окт ноем дек § бл ет ап",
        .inner = "ок обл общ англ нем фр лат гр рус ред хил млн лв кв ж.к",
        .unit = "г в лв ст мин сек ч хил млн млрд",
        .last = "т.н пр.хр сл.хр н.е пр.н.е др",
        .label = "витамин тип план група клас част приложение точка",
        .beginning = "Той Тя Те То Ние Вие Аз Ти Това Този Тази Тези Но И А Или В Във На С Със По За От До Из У О Без "
                     "Над Под Между След Преди Така После Когато Ако Как Какво Кой Къде Защо Тогава Там Тук Сега Днес "
                     "Вчера Утре Негов Моят Всички Всеки Никой Нищо Не Да Защото Затова Обаче Също Беше"},
    LanguageWords{
        .language = "ar", .never_last = "د أ أ.د م ص.ب ج.م.ع ه ش", .before_number = "ص ج رقم ط م ت ق", .inner = "ق.م"},
    LanguageWords{
        .language = "fa", .never_last = "دکتر ص.پ مهندس", .before_number = "ص ج ش ه.ش ه.ق", .inner = "ه.ش ه.ق ق.م"},
    LanguageWords{.language = "ur", .never_last = "ڈاکٹر ص", .before_number = "ص ج"},
    LanguageWords{.language = "hi",
                  .never_last = "डॉ डा प्रो पं सं श्री कु मो रु कि.मी वि.वि",
                  .before_number = "पृ सं नं रु क्र",
                  .inner = "ई.पू कि ई"},
    LanguageWords{.language = "hy", .never_last = "օր դ-ր պրոֆ ակադ", .before_number = "էջ հ նկ գլ"},
};

}  // namespace tril
