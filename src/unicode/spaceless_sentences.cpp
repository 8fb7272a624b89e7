#include "unicode/spaceless_sentences.h"

#include <unicode/uchar.h>

#include <algorithm>
#include <array>

#include "unicode/characters.h"
#include "unicode/sentence_line.h"
#include "unicode/sentence_marks.h"

namespace tril {
namespace {

// Behind a quotation: particles, endings, and what it names.
constexpr std::array<std::string_view, 37> continuing{
    "と",       "って",       "を",   "など", "なんて", "だった", "だと", "だけ",   "まで",   "ばかり",
    "くらい",   "ぐらい",     "のよ", "のこ", "のは",   "のを",   "のが", "のだ",   "のです", "について",
    "によ",     "には",       "にも", "ので", "けど",   "けれど", "が、", "ボタン", "タブ",   "メニュー",
    "コマンド", "ダイアログ", "項目", "的",   "按钮",   "菜单",   "命令"};
// Sentences that begin like a particle.
constexpr std::array<std::string_view, 30> beginnings{
    "とても",   "とって",   "とっさ",   "ところ",   "とにかく", "とりあえず", "ともかく", "ともあれ",
    "ともに",   "ともだち", "とうとう", "とうぜん", "ときどき", "ときに",     "ときおり", "とはいえ",
    "となり",   "とある",   "だったら", "だとす",   "だとし",   "だけど",     "的确",     "とりわけ",
    "ときたま", "とびら",   "とけい",   "とまれ",   "とんで",   "的士"};
// Particles with which many sentences begin too. Before kanji, katakana, digits and Latin letters they are particles.
constexpr std::array<std::string_view, 6> short_particles{"の", "が", "は", "に", "も", "で"};

constexpr std::array<std::string_view, 11> polite{"ます",   "です",     "ました",   "でした", "ません", "ください",
                                                  "下さい", "でしょう", "ましょう", "ますか", "ですか"};
// Of what is being done, in Japanese, and Chinese particles at the ends of sentences.
constexpr std::array<std::string_view, 8> last_signs{"中", "了", "吗", "呢", "吧", "啊", "呀", "啦"};
// Chinese words that end like one of them, but with which a sentence only begins: "in order to", "except".
constexpr std::array<std::string_view, 3> unfinished{"为了", "除了", "为着"};

// Chinese: "is just being", and "please wait".
constexpr std::array<std::string_view, 1> of_progress{"正在"};
constexpr std::array<std::string_view, 4> please_wait{"请稍候", "请稍等", "请等待", "请等候"};

template <std::size_t n>
bool begins_with_one(std::string_view text, const std::array<std::string_view, n>& words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) { return text.starts_with(word); });
}
template <std::size_t n>
bool ends_with_one(std::string_view text, const std::array<std::string_view, n>& words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) { return text.ends_with(word); });
}

bool is_hiragana(char32_t c) {
  return c >= 0x3041 && c <= 0x309f;
}

}  // namespace

bool continues_quotation(std::string_view text) {
  if (begins_with_one(text, beginnings)) return false;
  if (begins_with_one(text, continuing)) return true;
  for (const std::string_view particle : short_particles)
    if (text.starts_with(particle) && text.size() > particle.size()) {
      const char32_t next = character_at(text, particle.size()).code;
      return !is_hiragana(next) && (is_letter(next) || is_digit(next));
    }
  return false;
}

bool closes_whole_quotation(std::string_view text) {
  constexpr std::size_t most_bytes = 1000;
  int closed = 0;
  for (std::size_t end = text.size(); end > 0;) {
    if (text.size() - end > most_bytes) return false;
    const std::size_t at = last_character(text, end);
    const char32_t c = character_at(text, at).code;
    const int type = c == Character::not_utf8 ? int{U_UNASSIGNED} : u_charType(static_cast<UChar32>(c));
    if (type == U_END_PUNCTUATION || type == U_FINAL_PUNCTUATION) ++closed;
    if ((type == U_START_PUNCTUATION || type == U_INITIAL_PUNCTUATION) && --closed < 0)
      return SentenceLine(text).past_spaces(0) == at;
    end = at;
  }
  return true;
}

bool is_whole_before_ellipsis(std::string_view text) {
  if (ends_with_one(text, unfinished)) return false;
  return ends_with_one(text, polite) || ends_with_one(text, last_signs) || begins_with_one(text, of_progress) ||
         ends_with_one(text, please_wait);
}

}  // namespace tril
