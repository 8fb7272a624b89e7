// Where words begin in subword tokens.
#pragma once

#include <cstdint>
#include <vector>

#include "tokenizer/files/tokenizer.h"

namespace tril {

/// The relation of a subword to the word before it.
enum class PieceKind : std::uint8_t {
  begins_word,     ///< it begins with a space
  continues_word,  ///< its first character belongs to the word before it
  other            ///< punctuation without a space in front, a special token
};

/// The kinds of all ids of a side.
std::vector<PieceKind> piece_kinds(const Tokenizer& tokenizer, Side side);

}  // namespace tril
