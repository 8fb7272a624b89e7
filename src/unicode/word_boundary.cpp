#include "unicode/word_boundary.h"

#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include <cstdint>

namespace tril {
namespace {

// True for letters, marks and digits of scripts that separate words by spaces. The line breaking property excludes the others: ID and
// CJ are East Asian characters, SA is South East Asian.
bool is_of_word(UChar32 c) {
  if (c < 0) return false;
  switch (u_getIntPropertyValue(c, UCHAR_LINE_BREAK)) {
    case U_LB_IDEOGRAPHIC:
    case U_LB_CONDITIONAL_JAPANESE_STARTER:
    case U_LB_COMPLEX_CONTEXT:
      return false;
    default:
      return u_isalnum(c) != 0 || (U_GET_GC_MASK(c) & U_GC_M_MASK) != 0;
  }
}

UChar32 first_character(std::string_view text) {
  UChar32 c = -1;
  std::size_t at = 0;
  if (!text.empty()) U8_NEXT(text.data(), at, text.size(), c);
  return c;
}

}  // namespace

bool begins_with_word_character(std::string_view text) {
  return is_of_word(first_character(text));
}

bool is_word_boundary(std::string_view text, std::size_t at) {
  if (at == 0 || at >= text.size()) return true;
  std::size_t begin = at - 1;  // of the character before
  while (begin > 0 && U8_IS_TRAIL(static_cast<std::uint8_t>(text[begin]))) --begin;
  return !is_of_word(first_character(text.substr(begin))) || !is_of_word(first_character(text.substr(at)));
}

}  // namespace tril
