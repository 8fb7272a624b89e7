// The standard tokenization for BLEU: mteval-v13a's, as in the sacrebleu tool [Post 2018].
//
// Removes "<skipped>" and decodes four HTML entities; ASCII punctuation becomes a token of its own, except that a full stop or
// comma between digits stays, and a dash is split off only after a digit. Only ASCII is changed, so UTF-8 passes through.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tril {

/// The line with one space between tokens.
std::string tokenize_13a(std::string_view line);

/// The words separated by white space, including Unicode's, like Python's str.split().
std::vector<std::string_view> split_words(std::string_view line);

/// Bytes of the UTF-8 character at `at`; a stray byte counts as a character of its own.
std::size_t character_length(std::string_view text, std::size_t at);

}  // namespace tril
