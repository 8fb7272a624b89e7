// Words of about ten languages that tell whether a full stop ends a sentence (sentences.cpp). Each list is one text
// with a space around every word.
#pragma once

#include <string_view>

namespace tril::sentence_words {

/// Before names: a sentence never ends after them. In lower case, like all abbreviations here.
inline constexpr std::string_view titles =
    " mr mrs ms mx dr prof messrs rev hon capt sgt lt cmdr maj gen hr frl dipl mag mme mlle mm dra sra srta dña dhr "
    "mevr drs "
    "sig dott avv doç \u03ba \u03ba\u03b1 \u03b4\u03c1 \u0443\u043b \u0438\u043c \u043f\u0440\u043e\u0444 "
    "\u0430\u043a\u0430\u0434 \u062f \u0921\u0949 \u092a\u094d\u0930\u094b ";

/// Before numbers: the sentence continues if a number follows.
inline constexpr std::string_view before_numbers =
    " no nr nos nrs nro n\u00ba fig figs art arts abs sec sect ch chap cap p pp pg pag p\u00e1g blz s vol vols ver bd "
    "bde "
    "kap abb tab taf rys eq eqs ex num n\u00fam v vv cl pt par para rn rz ziff lit anm kl ust godz sok cad op "
    "jan feb mar m\u00e4r apr jun jul aug sep sept oct okt ott nov dec dez dic d\u00e9c janv f\u00e9vr avr juil ene "
    "abr ago "
    "\u0441\u0442\u0440 \u0440\u0438\u0441 \u0433\u043b \u0442\u0430\u0431\u043b \u0441\u0442 \u043f \u0434 "
    "\u043a\u0432 "
    "\u0442 \u2116 ";

/// Inside sentences: the sentence continues unless a word of `beginnings` follows.
inline constexpr std::string_view inner =
    " st ste mt ft sen gov rep pres col adm fr sr jr esq inc ltd co corp bros dept est approx ca circa vs cf al incl "
    "excl "
    "resp bzw vgl ggf evtl inkl exkl bspw sog zzgl geb str bijv tzn tzw np tj ing lic avda av dpto env max min "
    "\u0433 \u0440\u0443\u0431 \u043a\u043e\u043f \u043c\u043b\u043d \u0442\u044b\u0441 \u0441\u043c "
    "\u043d\u0430\u043f\u0440 "
    "ul ";

/// Letters with full stops, after which no sentence ends: "z.B.", "e.g.".
inline constexpr std::string_view never_last =
    " z.b e.g i.e d.h u.a d.i i.d.r p.ex p.ej t.ex f.eks b.v m.a.w d.v.s m.in v.a \u0442.\u0435 \u03c0.\u03c7 ";

/// Words that begin sentences and are no names: after an abbreviation or an initial they begin a sentence.
inline constexpr std::string_view beginnings =
    " The A An It He She They We You I This That These Those There Then But And In On At If When While After Before As "
    "For "
    "However His Her Its Their Our My Your What Why How Who Where Some Many Most All Not So To With From By Both Each "
    "Another "
    "Here Now Also Yet Nobody Nothing Everybody Everyone "
    "Der Die Das Er Sie Es Wir Ich Ihr Ein Eine Dann Da Dort Diese Dieser Dieses Aber Und Auch Im Am Mit Nach Bei Vor "
    "Seit "
    "F\u00fcr Wenn Als Wie Was Wer Wo Warum Nun Jetzt Hier Man Doch Seine Ihre Alle Viele Auf Zum Zur Vom Nur Danach "
    "Sp\u00e4ter "
    "Il Elle Ils Elles On Nous Vous Je Un Une Ce Cette Ces Mais Et Puis Dans Pour Avec Sur Si Quand Les Ensuite "
    "Los Las Una Ella Ellos \u00c9l Pero En Con Para Por Cuando Esta Este Esto Yo T\u00fa Nosotros Luego Entonces "
    "Gli Egli Lei Loro Noi Questo Questa Ma Poi Quando Ele Ela Eles Uma Um Mas Em Isso Depois Het Een Hij Zij Wij Dat "
    "Dit Maar "
    "Toen Ale To Potem Kiedy Nie "
    "\u041e\u043d \u041e\u043d\u0430 \u041e\u043d\u0438 \u041e\u043d\u043e \u041c\u044b \u0412\u044b \u042f "
    "\u042d\u0442\u043e "
    "\u041d\u043e \u0418 \u0410 \u0412 \u041d\u0430 \u0422\u0430\u043a \u041f\u043e\u0442\u043e\u043c "
    "\u0417\u0430\u0442\u0435\u043c "
    "\u041a\u043e\u0433\u0434\u0430 \u0415\u0441\u043b\u0438 \u041a\u0430\u043a \u0427\u0442\u043e "
    "\u0422\u043e\u0433\u0434\u0430 "
    "\u0422\u0430\u043c ";

/// After an ordinal number: "3. Oktober".
inline constexpr std::string_view counted =
    " Januar J\u00e4nner Februar M\u00e4rz April Mai Juni Juli August September Oktober November Dezember Jan Feb "
    "M\u00e4r Apr "
    "Jun Jul Aug Sep Sept Okt Nov Dez Jahrhundert Jahrhunderts Jahrhunderten Weltkrieg Weltkriegs Weltkrieges Auflage "
    "Kapitel "
    "Klasse Platz Stock Stockwerk Etage Geburtstag Band Liga Bundesliga Runde Spieltag ";

/// Before an ordinal number: "im 19. Jahrhundert", "der 2. Versuch".
inline constexpr std::string_view before_counted =
    " am im vom zum zur beim der die das dem den des ein eine einen einem einer eines jeder jede jedes jeden jedem ihr "
    "ihre "
    "ihren ihrem ihrer sein seine seinen seinem seiner dieser diese dieses diesen unser unsere mein meine ";

/// Whether the list contains the word.
inline bool has(std::string_view list, std::string_view word) {
  if (word.empty() || word.find(' ') != word.npos) return false;
  for (std::size_t at = list.find(word); at != list.npos; at = list.find(word, at + 1))
    if (list[at - 1] == ' ' && list[at + word.size()] == ' ') return true;  // the lists begin and end with spaces
  return false;
}

}  // namespace tril::sentence_words
