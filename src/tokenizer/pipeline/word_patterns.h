// How byte-level tokenizers split text into words, across which bytes never merge. The patterns of most models are
// functions, many times as fast as a regular expression; regex.h handles all others.
#pragma once

#include <cstddef>
#include <string_view>

#include "unicode/characters.h"

namespace tril {

/// The end of the word that begins at `at` < text.size(). Every byte belongs to a word; an invalid byte counts as a
/// character that is neither letter, number nor space.
using EndOfWord = std::size_t (*)(const CharacterKinds& kinds, std::string_view text, std::size_t at);

/// GPT-2's [Radford et al. 2019, section 2.2].
inline constexpr std::string_view gpt2_pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
std::size_t end_of_gpt2_word(const CharacterKinds& kinds, std::string_view text, std::size_t at);

/// Llama 3's, and Qwen 2's, which differs only in how many digits may form a word.
inline constexpr std::string_view llama3_pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
inline constexpr std::string_view qwen2_pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

/// The function of a regular expression, recognised by its text; nullptr if there is none.
EndOfWord find_word_pattern(std::string_view regex);

}  // namespace tril
