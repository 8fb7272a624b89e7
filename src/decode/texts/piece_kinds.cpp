#include "decode/texts/piece_kinds.h"

#include "format/sentencepiece_file.h"
#include "unicode/word_boundary.h"

namespace tril {
namespace {

// True for a byte token such as "<0xE2>".
bool is_byte(std::string_view piece) {
  return piece.size() == 6 && piece.starts_with("<0x") && piece.back() == '>';
}

}  // namespace

std::vector<PieceKind> piece_kinds(const Tokenizer& tokenizer, Side side) {
  std::vector<PieceKind> kinds;
  for (std::int32_t id = 0; id < tokenizer.size(side); ++id) {
    const std::string& piece = tokenizer.piece(id, side);
    if (piece.starts_with(space_mark))
      kinds.push_back(PieceKind::begins_word);
    else
      kinds.push_back(is_byte(piece) || begins_with_word_character(piece) ? PieceKind::continues_word
                                                                          : PieceKind::other);
  }
  return kinds;
}

}  // namespace tril
