#include "terms/stem.h"

#include <algorithm>
#include <array>
#include <vector>

#include "unicode/characters.h"
#include "unicode/trim.h"

namespace tril::terms {
namespace {

struct LanguageEndings {
  std::string_view languages;  // with spaces between them
  std::string_view endings;
};

// Endings of nouns, adjectives and participles, from school grammars.
constexpr std::array<LanguageEndings, 23> endings_table{{
    {"en", "s es y ies e ed ied ing"},
    {"de", "e en em er ern es n nen s"},
    {"nl", "e en n s eren ë ën"},
    {"sv", "a an ar arna or orna er erna e en et n na t s"},
    {"da nb nn no", "a ar ane e er ene en et erne ne s t"},
    {"fr", "e s es x al aux ale ales"},
    {"es", "a e o s as es os"},
    {"pt", "a e o s as es os ão ões ães al ais el éis"},
    {"it", "a e i o he hi"},
    {"ca", "a e o s es os"},
    {"ro", "a e i u ă ul ului ii le lor ilor uri urile"},
    {"ru",
     "а е и о у ы ь й ю я ам ами ах ая ого его ее ей ем ему ев его ие ий им ими их ию ия ов ого ое ой ом ому ою ую ые "
     "ый ым ыми "
     "ых ью юю ям ями ях яя"},
    {"uk",
     "а е и о у ь й ю я є і ї ам ами ах ого його ові еві ею ев ей ем єм им ими их ій ім іх ів їв ою ої ом ому ям ями "
     "ях єю"},
    {"bg", "а е и о у ъ я та то те ът ят ия ите ата ото ове ен на но ни"},
    {"pl", "a e i o u y ą ę ach ami ego ej em emu ie iem im imi ich om owi ów ym ymi ych ią ię"},
    {"cs sk",
     "a e i o u y á é í ý ě ů ú ou om em am ám ách ech ích ých ého ému ím ým ím ými ími ami emi ovi ové ů ům í"},
    {"fi",
     "a ä n t i na nä ta tä ssa ssä sta stä lla llä lta ltä lle ksi ja jä ia iä ita itä iden ien "
     "issa issä ista istä illa illä ilta iltä ille iksi"},
    {"et", "a e i u d t te de id st sse le l lt ks s ni ga ta"},
    {"hu",
     "k ok ek ök ak t ot et öt at ban ben ba be ból ből nak nek val vel hoz hez höz ra re ról ről on en ön n tól től "
     "nál nél "
     "ig ért a e i ja je"},
    {"tr",
     "a e ı i u ü lar ler ya ye yi yu yü nın nin nun nün ın in un ün da de ta te dan den tan ten la le sı si su sü"},
    {"el", "α ε η ι ο υ ά έ ή ί ό ασ εσ ησ οσ ουσ ου ων ών οι ον ην αν ούσ ήσ όσ άσ έσ"},
    {"ko", "은 는 이 가 을 를 에 에서 에게 의 로 으로 와 과 도 만 들 까지 부터"},
    {"lv", "a e i s š u ā ē ī ū as es is us am em im um ai ei ij os ies iem ām ēm īm ās ēs"},
}};

std::vector<std::string_view> parts_of(std::string_view list) {
  std::vector<std::string_view> parts;
  while (!list.empty()) {
    const std::size_t space = std::min(list.find(' '), list.size());
    if (space > 0) parts.push_back(list.substr(0, space));
    list.remove_prefix(std::min(space + 1, list.size()));
  }
  return parts;
}

struct Endings {
  std::string_view language;
  std::vector<std::string_view> endings;  // longest first
};

const std::vector<Endings>& all_endings() {
  static const std::vector<Endings> all = [] {
    std::vector<Endings> list;
    for (const LanguageEndings& row : endings_table)
      for (const std::string_view language : parts_of(row.languages)) {
        list.push_back({language, parts_of(row.endings)});
        std::stable_sort(list.back().endings.begin(), list.back().endings.end(),
                         [](std::string_view a, std::string_view b) { return a.size() > b.size(); });
      }
    return list;
  }();
  return all;
}

}  // namespace

std::span<const std::string_view> endings_of(std::string_view language) {
  for (const Endings& one : all_endings())
    if (one.language == language) return one.endings;
  return {};
}

std::span<const std::string_view> languages_with_endings() {
  static const std::vector<std::string_view> codes = [] {
    std::vector<std::string_view> list;
    for (const Endings& one : all_endings()) list.push_back(one.language);
    return list;
  }();
  return codes;
}

std::string stem_of(std::string_view folded, std::span<const std::string_view> endings) {
  const bool hangul =
      !folded.empty() && character_at(folded, 0).code >= 0xac00 && character_at(folded, 0).code <= 0xd7a3;
  const std::size_t least = hangul ? 2 : 3;
  for (bool removed = true; removed;) {
    removed = false;
    for (const std::string_view ending : endings) {
      if (!folded.ends_with(ending)) continue;
      const std::string_view rest = folded.substr(0, folded.size() - ending.size());
      if (characters_in(rest) < least) continue;
      folded = rest;
      removed = true;
      break;
    }
  }
  return std::string(folded);
}

}  // namespace tril::terms
