#include "unicode/sentence_line.h"

#include <unicode/uchar.h>

#include "unicode/characters.h"
#include "unicode/sentence_marks.h"

namespace tril {
namespace {

int break_of(char32_t c) {
  return c == Character::not_utf8 ? U_SB_OTHER : u_getIntPropertyValue(static_cast<UChar32>(c), UCHAR_SENTENCE_BREAK);
}
bool is_combining(char32_t c) {
  return c != Character::not_utf8 && (U_GET_GC_MASK(static_cast<UChar32>(c)) & U_GC_M_MASK) != 0;
}

}  // namespace

bool is_letter(char32_t c) {
  return c != Character::not_utf8 && u_isalpha(static_cast<UChar32>(c)) != 0;
}
bool is_digit(char32_t c) {
  return c != Character::not_utf8 && u_isdigit(static_cast<UChar32>(c)) != 0;
}
bool is_capital(char32_t c) {
  return break_of(c) == U_SB_UPPER;
}
bool is_small(char32_t c) {
  return break_of(c) == U_SB_LOWER;
}

char32_t SentenceLine::at(std::size_t i) const {
  return character_at(text_, i).code;
}

char32_t SentenceLine::before(std::size_t i) const {
  return i == 0 ? ' ' : at(last_character(text_, i));
}

std::size_t SentenceLine::behind(std::size_t i) const {
  return i + character_at(text_, i).length;
}

std::size_t SentenceLine::past_spaces(std::size_t i) const {
  while (i < size() && is_white_space(at(i))) i = behind(i);
  return i;
}

std::size_t SentenceLine::past_signs(std::size_t i) const {
  while (i < size() && !is_letter(at(i)) && !is_digit(at(i)) && sentence_mark(at(i), before(i)) == SentenceMark::none)
    i = behind(i);
  return i;
}

bool SentenceLine::paragraph_ends(std::size_t i) const {
  const std::size_t end = past_spaces(i);
  while (i < end && at(i) != paragraph_separator) i = behind(i);
  return i < end;
}

std::size_t SentenceLine::word_begin(std::size_t end) const {
  std::size_t i = end;
  while (i > 0 && !is_white_space(before(i)) && !is_ideographic(before(i))) i = last_character(text_, i);
  while (i < end && !is_letter(at(i)) && !is_digit(at(i)) && at(i) != '$' && at(i) != '.' && at(i) != '%') {
    const std::size_t next = behind(i);
    if (at(i) == '-' && next < end && is_letter(at(next))) break;  // an option: "-F"
    i = next;
  }
  return i;
}

std::string_view SentenceLine::word_before(std::size_t begin) const {
  while (begin > 0 && !is_letter(before(begin)) && !is_digit(before(begin)) && !is_combining(before(begin)))
    begin = last_character(text_, begin);
  return part(word_begin(begin), begin);
}

std::string_view SentenceLine::word_behind(std::size_t i) const {
  i = past_signs(i);
  std::size_t end = i;
  while (end < size() && (is_letter(at(end)) || is_combining(at(end)))) end = behind(end);
  return part(i, end);
}

}  // namespace tril
