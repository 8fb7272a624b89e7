// The tokenization that BLEU scores are compared under: mteval-v13a's, as the sacrebleu tool applies it [Post 2018].
//
// A line loses "<skipped>" and four HTML entities; ASCII punctuation becomes a token of its own, but a full stop or
// comma between digits stays, and a dash is cut off only behind a digit. All of it is ASCII, so the bytes of UTF-8 pass
// through.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tril {

/// The line with one space between tokens.
std::string tokenize_13a(std::string_view line);

/// The words between white space, Unicode's included, as Python's str.split() sees it.
std::vector<std::string_view> split_words(std::string_view line);

/// Bytes of the UTF-8 character at `at`; a stray byte counts as a character of its own.
std::size_t character_length(std::string_view text, std::size_t at);

}  // namespace tril
