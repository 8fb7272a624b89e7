#include "unicode/sentence_marks.h"

#include <unicode/uchar.h>
#include <unicode/uscript.h>

#include <algorithm>
#include <array>
#include <utility>

#include "unicode/characters.h"

namespace tril {
namespace {

using Range = std::pair<char32_t, char32_t>;

template <std::size_t n>
bool is_in(const std::array<Range, n>& ranges, char32_t c) {
  return std::any_of(ranges.begin(), ranges.end(), [c](const Range& r) { return c >= r.first && c <= r.second; });
}

// Marks that end a sentence, added in Unicode 16 to 18. ICU knows them only from its version of these on, and results
// must not depend on the version of ICU.
constexpr std::array<Range, 8> newer_marks{{{0x1b4e, 0x1b4f},
                                            {0x1b7f, 0x1b7f},
                                            {0x2cf9, 0x2cfb},
                                            {0x2e60, 0x2e61},
                                            {0xfe12, 0xfe12},
                                            {0xfe15, 0xfe16},
                                            {0x113d4, 0x113d5},
                                            {0x16d6e, 0x16d6f}}};

bool is_terminator(char32_t c) {
  return u_getIntPropertyValue(static_cast<UChar32>(c), UCHAR_SENTENCE_BREAK) == U_SB_STERM || is_in(newer_marks, c);
}

SentenceMark find_mark(char32_t c) {
  switch (c) {
    case '.':
    case 0x2024:
      return SentenceMark::stop;
    case '!':
    case '?':
    case 0x2026:  // an ellipsis
    case 0xfe52:  // a small and a full-width full stop, which numbers also have
    case 0xff0e:
      return SentenceMark::end;
    case 0x104a:  // Burmese, between phrases
      return SentenceMark::none;
    case 0x17d4:  // Khmer
    case 0x17d5:
      return SentenceMark::always;
    default:
      if (c < 0x80 || !is_terminator(c)) return SentenceMark::none;
      // Two marks as one character: "?!".
      return c >= 0x203c && c <= 0x2049 ? SentenceMark::end : SentenceMark::always;
  }
}

// The marks of the Basic Multilingual Plane, so that a common character costs one look-up.
const std::array<SentenceMark, 0x10000>& marks() {
  static const auto table = [] {
    std::array<SentenceMark, 0x10000> t{};
    for (char32_t c = 0; c < t.size(); ++c) t[c] = find_mark(c);
    return t;
  }();
  return table;
}

bool is_greek(char32_t c) {
  return (c >= 0x370 && c < 0x400) || (c >= 0x1f00 && c < 0x2000);
}

}  // namespace

SentenceMark sentence_mark(char32_t c, char32_t before) {
  if (c == ';' || c == 0x37e) return is_greek(before) ? SentenceMark::end : SentenceMark::none;
  if (c < marks().size()) return marks()[c];
  return c == Character::not_utf8 ? SentenceMark::none : find_mark(c);
}

bool closes_after(char32_t c, SentenceMark mark) {
  if (c == '"' || c == '\'') return mark != SentenceMark::always;
  if (c == Character::not_utf8) return false;
  const int type = u_charType(static_cast<UChar32>(c));
  return type == U_END_PUNCTUATION || type == U_FINAL_PUNCTUATION ||
         (type == U_INITIAL_PUNCTUATION && mark != SentenceMark::always);
}

ClauseMark clause_mark(char32_t c) {
  switch (c) {
    case ';':
    case ':':
    case 0x387:   // Greek
    case 0x61b:   // Arabic
    case 0x1364:  // Ethiopic
    case 0x1365:
    case 0xff1a:  // full-width
    case 0xff1b:
      return ClauseMark::strong;
    case ',':
    case 0x55d:   // Armenian
    case 0x60c:   // Arabic
    case 0x104a:  // Burmese
    case 0x1363:  // Ethiopic
    case 0x3001:  // ideographic
    case 0xff0c:  // full-width
    case 0xff64:  // half-width ideographic
      return ClauseMark::comma;
    default:
      return ClauseMark::none;
  }
}

bool is_wide_mark(char32_t c) {
  return c == 0x3001 || c == 0x104a || (c >= 0xff00 && c <= 0xff64);
}

bool is_ideographic(char32_t c) {
  if (c < 0x2e80 || c == Character::not_utf8) return false;
  UErrorCode error = U_ZERO_ERROR;
  const UScriptCode script = uscript_getScript(static_cast<UChar32>(c), &error);
  return script == USCRIPT_HAN || script == USCRIPT_HIRAGANA || script == USCRIPT_KATAKANA;
}

bool is_written_without_spaces(char32_t c) {
  if (c < 0xe00 || c == Character::not_utf8) return false;
  if (is_ideographic(c)) return true;
  UErrorCode error = U_ZERO_ERROR;
  const UScriptCode script = uscript_getScript(static_cast<UChar32>(c), &error);
  return script == USCRIPT_THAI || script == USCRIPT_LAO || script == USCRIPT_KHMER || script == USCRIPT_MYANMAR;
}

bool is_white_space(char32_t c) {
  if (c < 0x80) return c == ' ' || (c >= '\t' && c <= '\r');
  return c != Character::not_utf8 && u_isUWhiteSpace(static_cast<UChar32>(c)) != 0;
}

}  // namespace tril
