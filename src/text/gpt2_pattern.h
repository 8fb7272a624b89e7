// How GPT-2 cuts text into words before it merges bytes [Radford et al. 2019, section 2.2]: merges never cross them.
#pragma once

#include <cstddef>
#include <string_view>

namespace tril {

/// The end of the word that begins at `at` < text.size(), by the pattern
///   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
/// A byte that is no UTF-8 counts as a character that is neither letter, number nor space.
std::size_t end_of_gpt2_word(std::string_view text, std::size_t at);

}  // namespace tril
