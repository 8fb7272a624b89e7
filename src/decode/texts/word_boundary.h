// Word boundaries in text and in subword tokens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "tokenizer/files/tokenizer.h"

namespace tril {

/// True if a word may begin or end at byte `at` of a UTF-8 text (0 to its size): everywhere except between two letters, marks
/// or digits. If one of the two belongs to a script without spaces (Han, kana, Thai, ...), there is a boundary too.
bool is_word_boundary(std::string_view text, std::size_t at);

/// The relation of a subword to the word before it.
enum class PieceKind : std::uint8_t {
  begins_word,     ///< it begins with a space
  continues_word,  ///< its first character belongs to the word before it
  other            ///< punctuation without a space in front, a special token
};

/// The kinds of all ids of a side.
std::vector<PieceKind> piece_kinds(const Tokenizer& tokenizer, Side side);

}  // namespace tril
