#include "unicode/sentences.h"

#include <unicode/uchar.h>

#include <algorithm>
#include <array>
#include <utility>

#include "unicode/characters.h"
#include "unicode/letter_case.h"
#include "unicode/sentence_words.h"

namespace tril {
namespace {

namespace words = sentence_words;

enum class Mark : std::uint8_t {
  none,
  stop,   ///< a full stop, which abbreviations and numbers also have
  end,    ///< ends a sentence if white space follows
  always  ///< always ends one
};

int break_of(char32_t c) {
  return c == Character::not_utf8 ? U_SB_OTHER : u_getIntPropertyValue(static_cast<UChar32>(c), UCHAR_SENTENCE_BREAK);
}
int category(char32_t c) {
  return c == Character::not_utf8 ? int{U_UNASSIGNED} : u_charType(static_cast<UChar32>(c));
}
bool is_space(char32_t c) {
  return c == ' ' || (c != Character::not_utf8 && u_isUWhiteSpace(static_cast<UChar32>(c)) != 0);
}
bool is_letter(char32_t c) {
  return c != Character::not_utf8 && u_isalpha(static_cast<UChar32>(c)) != 0;
}
bool is_mark(char32_t c) {
  return c != Character::not_utf8 && (U_GET_GC_MASK(static_cast<UChar32>(c)) & U_GC_M_MASK) != 0;
}
bool is_digit(char32_t c) {
  return c != Character::not_utf8 && u_isdigit(static_cast<UChar32>(c)) != 0;
}
bool is_greek(char32_t c) {
  return (c >= 0x370 && c < 0x400) || (c >= 0x1f00 && c < 0x2000);
}

// Marks that end a sentence, added in Unicode 16 to 18. ICU knows them only from its version of these on, and results
// must not depend on the version of ICU.
constexpr std::array<std::pair<char32_t, char32_t>, 8> newer_marks{{{0x1b4e, 0x1b4f},
                                                                    {0x1b7f, 0x1b7f},
                                                                    {0x2cf9, 0x2cfb},
                                                                    {0x2e60, 0x2e61},
                                                                    {0xfe12, 0xfe12},
                                                                    {0xfe15, 0xfe16},
                                                                    {0x113d4, 0x113d5},
                                                                    {0x16d6e, 0x16d6f}}};
bool is_terminator(char32_t c) {
  return break_of(c) == U_SB_STERM || std::any_of(newer_marks.begin(), newer_marks.end(), [c](const auto& range) {
           return c >= range.first && c <= range.second;
         });
}

constexpr char32_t paragraph_separator = 0x2029;

// @param before  the character before it: a semicolon is a question mark only in Greek
Mark mark_of(char32_t c, char32_t before) {
  switch (c) {
    case '.':
    case 0x2024:
      return Mark::stop;
    case '!':
    case '?':
    case 0x2026:  // an ellipsis
    case 0xfe52:  // a small and a full-width full stop, which numbers also have
    case 0xff0e:
      return Mark::end;
    case ';':
    case 0x37e:
      return is_greek(before) ? Mark::end : Mark::none;
    case 0x104a:  // Burmese, between phrases
      return Mark::none;
    case 0x17d4:  // Khmer
    case 0x17d5:
      return Mark::always;
    default:
      if (c < 0x80) return Mark::none;
      if (c >= 0x203c && c <= 0x2049) return is_terminator(c) ? Mark::end : Mark::none;  // ?! as one character
      return is_terminator(c) ? Mark::always : Mark::none;
  }
}

// Whether c closes directly after a mark. In scripts without spaces between sentences, an ambiguous quote opens the
// next sentence.
bool closes(char32_t c, Mark behind) {
  if (c == '"' || c == '\'') return behind != Mark::always;
  const int type = category(c);
  return type == U_END_PUNCTUATION || type == U_FINAL_PUNCTUATION ||
         (type == U_INITIAL_PUNCTUATION && behind != Mark::always);
}

// A line, with navigation by words.
class Line {
 public:
  explicit Line(std::string_view text) : text_(text) {}
  std::size_t size() const { return text_.size(); }
  Character at(std::size_t i) const { return character_at(text_, i); }
  char32_t before(std::size_t i) const { return i == 0 ? ' ' : at(last_character(text_, i)).code; }
  std::string_view part(std::size_t begin, std::size_t end) const { return text_.substr(begin, end - begin); }

  std::size_t past_spaces(std::size_t i) const {
    while (i < size() && is_space(at(i).code)) i += at(i).length;
    return i;
  }
  // Whether the white space at `i` ends a paragraph.
  bool paragraph_ends(std::size_t i) const {
    const std::size_t end = past_spaces(i);
    while (i < end && at(i).code != paragraph_separator) i += at(i).length;
    return i < end;
  }
  // The start of the word that ends at `end`, without quotes and brackets before it.
  std::size_t word_begin(std::size_t end) const {
    std::size_t i = end;
    while (i > 0 && !is_space(before(i))) i = last_character(text_, i);
    while (i < end && !is_letter(at(i).code) && !is_digit(at(i).code) && at(i).code != '$' && at(i).code != '.')
      i += at(i).length;
    return i;
  }
  // The word before `begin`, without its full stop.
  std::string_view word_before(std::size_t begin) const {
    while (begin > 0 && !is_letter(before(begin)) && !is_digit(before(begin))) begin = last_character(text_, begin);
    return part(word_begin(begin), begin);
  }
  // The letters and marks from the first letter or digit after `i` on, past quotes, brackets and dashes.
  std::string_view word_behind(std::size_t i) const {
    i = past_signs(i);
    std::size_t end = i;
    while (end < size() && (is_letter(at(end).code) || is_mark(at(end).code))) end += at(end).length;
    return part(i, end);
  }
  // The first letter or digit after `i`, at most up to the next mark that may end a sentence.
  std::size_t past_signs(std::size_t i) const {
    while (i < size() && !is_letter(at(i).code) && !is_digit(at(i).code) &&
           mark_of(at(i).code, before(i)) == Mark::none)
      i += at(i).length;
    return i;
  }

 private:
  std::string_view text_;
};

// Whether the word is letters separated by full stops, at most two in a row: "z.B", "p.m", "Ph.D".
bool is_dotted(std::string_view word) {
  int letters = 0, dots = 0;
  for (std::size_t i = 0; i < word.size(); i += character_at(word, i).length) {
    const char32_t c = character_at(word, i).code;
    if (c == '.' && letters > 0) {
      ++dots, letters = 0;
    } else if (!is_letter(c) || ++letters > 2) {
      return false;
    }
  }
  return dots > 0 && letters > 0;
}

// "art" of "l'art".
std::string_view behind_apostrophe(std::string_view word) {
  for (const std::string_view sign : {"'", "\u2019"})
    if (const std::size_t at = word.rfind(sign); at != std::string_view::npos) word.remove_prefix(at + sign.size());
  return word;
}

// The number of final digits, if it is a number or several with signs between them ("24.12", "3.-5"); otherwise 0.
std::size_t last_digits(std::string_view word) {
  std::size_t digits = 0;
  for (std::size_t i = 0; i < word.size(); i += character_at(word, i).length) {
    const char32_t c = character_at(word, i).code;
    if (is_digit(c))
      ++digits;
    else if (c == '.' || c == '-' || c == '/' || c == 0x2013)
      digits = 0;
    else
      return 0;
  }
  return digits;
}

// Whether a number with a full stop is an ordinal that belongs to what follows.
bool counts(const Line& line, std::size_t begin, std::size_t digits, std::string_view follows, bool begins) {
  if (line.past_spaces(0) == begin) return digits <= 3;  // "1. First", also after an earlier sentence of the line
  if (digits > 2) return false;
  if (words::has(words::counted, follows)) return true;
  const std::string_view before = line.word_before(begin);
  if (begins || !words::has(words::before_counted, lower_case(before))) return false;
  const auto at = static_cast<std::size_t>(before.data() - line.part(0, 0).data());
  return before != "am" || line.word_before(at) != "I";  // "I am 5. Tom is 6."
}

// Whether the sentence continues after the single full stop at `stop`; `next` is the next character other than white space.
bool goes_on(const Line& line, std::size_t stop, std::size_t next) {
  const std::size_t begin = line.word_begin(stop);
  const std::string_view word = line.part(begin, stop), follows = line.word_behind(next);
  if (word.empty()) return false;
  const auto behind_word = static_cast<std::size_t>(follows.data() - line.part(0, 0).data()) + follows.size();
  const bool is_followed_by_stop = behind_word < line.size() && line.at(behind_word).code == '.';
  const bool begins = !is_followed_by_stop && words::has(words::beginnings, follows);
  const bool number_follows = is_digit(line.at(next).code);

  if (const std::size_t digits = last_digits(word); digits > 0) return counts(line, begin, digits, follows, begins);
  const std::string small = lower_case(behind_apostrophe(word));
  if (words::has(words::titles, small)) return true;
  if (number_follows && (words::has(words::before_numbers, small) || small.ends_with("str")))
    return true;  // Hauptstr. 5
  const bool single = character_at(word, 0).length == word.size();
  if (single && break_of(character_at(word, 0).code) == U_SB_UPPER)
    return !begins || (small == "b" && line.word_before(begin) == "z");  // an initial; "z. B."
  if (single && is_followed_by_stop && !follows.empty() && character_at(follows, 0).length == follows.size())
    return true;  // "z. B."
  if (is_dotted(word)) return words::has(words::never_last, small) || !begins;
  return words::has(words::inner, small) && !begins;
}

// The French closing quote comes after a space: "! »".
std::size_t past_spaced_quote(const Line& line, std::size_t end) {
  const std::size_t quote = line.past_spaces(end);
  if (quote == end || quote >= line.size() || line.at(quote).code != 0xbb) return end;
  const std::size_t behind = quote + line.at(quote).length;
  return behind >= line.size() || is_space(line.at(behind).code) ? behind : end;
}

}  // namespace

std::size_t sentence_end(std::string_view text) {
  const Line line(text);
  char32_t before = ' ';
  std::size_t text_end = 0;  // after the last character other than white space
  for (std::size_t i = 0; i < line.size();) {
    const Character c = line.at(i);
    if (c.code == paragraph_separator && text_end > 0) return text_end;
    Mark mark = mark_of(c.code, before);
    before = c.code;
    const std::size_t first = i;
    i += c.length;
    if (!is_space(c.code)) text_end = i;
    if (mark == Mark::none) continue;
    while (i < line.size()) {
      const Character next = line.at(i);
      const Mark more = mark_of(next.code, before);
      if (more == Mark::none && !closes(next.code, mark)) break;
      if (more == Mark::always) mark = more;
      before = next.code;
      i += next.length;
    }
    text_end = i;
    const bool one_stop = mark == Mark::stop && i == first + c.length;
    if (mark == Mark::always) return i;
    if (i < line.size() && !is_space(line.at(i).code)) continue;
    if (line.paragraph_ends(i)) return i;
    i = past_spaced_quote(line, i);
    text_end = i;
    const std::size_t next = line.past_spaces(i);
    if (next >= line.size()) return i;
    const std::size_t word = line.past_signs(next);
    if (word < line.size() && break_of(line.at(word).code) == U_SB_LOWER) continue;
    if (one_stop && goes_on(line, first, next)) continue;
    return i;
  }
  return line.size();
}

}  // namespace tril
