// Where words begin and end, in text and in subwords.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "tokenizer/files/tokenizer.h"

namespace tril {

/// Whether a word may begin or end at byte `at` of a text in UTF-8 (0 to its size): not between two letters, marks or
/// digits, unless one of them is of a script that has no spaces (Han, kana, Thai, ...).
bool is_word_boundary(std::string_view text, std::size_t at);

/// What a subword does to the word before it.
enum class PieceKind : std::uint8_t {
  begins_word,     ///< a space comes before it
  continues_word,  ///< its first character belongs to the word before it
  other            ///< punctuation without a space in front, a special token
};

/// The kinds of all ids of a side.
std::vector<PieceKind> piece_kinds(const Tokenizer& tokenizer, Side side);

}  // namespace tril
