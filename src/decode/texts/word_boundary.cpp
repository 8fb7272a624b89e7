#include "decode/texts/word_boundary.h"

#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include "format/sentencepiece_file.h"

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

// True for a byte token such as "<0xE2>".
bool is_byte(std::string_view piece) {
  return piece.size() == 6 && piece.starts_with("<0x") && piece.back() == '>';
}

UChar32 first_character(std::string_view text) {
  UChar32 c = -1;
  std::size_t at = 0;
  if (!text.empty()) U8_NEXT(text.data(), at, text.size(), c);
  return c;
}

}  // namespace

bool is_word_boundary(std::string_view text, std::size_t at) {
  if (at == 0 || at >= text.size()) return true;
  std::size_t begin = at - 1;  // of the character before
  while (begin > 0 && U8_IS_TRAIL(static_cast<std::uint8_t>(text[begin]))) --begin;
  return !is_of_word(first_character(text.substr(begin))) || !is_of_word(first_character(text.substr(at)));
}

std::vector<PieceKind> piece_kinds(const Tokenizer& tokenizer, Side side) {
  std::vector<PieceKind> kinds;
  for (std::int32_t id = 0; id < tokenizer.size(side); ++id) {
    const std::string& piece = tokenizer.piece(id, side);
    if (piece.starts_with(space_mark))
      kinds.push_back(PieceKind::begins_word);
    else
      kinds.push_back(is_byte(piece) || is_of_word(first_character(piece)) ? PieceKind::continues_word
                                                                           : PieceKind::other);
  }
  return kinds;
}

}  // namespace tril
