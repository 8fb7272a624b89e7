// The lines from which a vocabulary is learned: those of its files with a word in them, or an even sample of them, in
// a form in which SentencePiece learns from every byte.
//
// Its trainer passes over whole lines without a word: those of more bytes than a limit, and those with a character that it
// keeps for itself. So a longer line is learned from in parts. A part begins with a blank, where there is one, so that the
// words are what they were; else between two characters.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "corpus/vocabulary.h"

namespace tril {

/// Bytes. SentencePiece numbers the characters of a word in 16 bits, and NFKC makes up to two of a byte (U+3316).
inline constexpr std::size_t longest_learnable_line = 16'384;
/// What SentencePiece writes for unknown characters while it learns.
inline constexpr std::string_view reserved_character = "\u2585";

struct LearnableLines {
  std::vector<std::string> lines;
  std::int64_t cut = 0;       ///< lines that were too long
  std::int64_t reserved = 0;  ///< lines with the reserved character, at which they are cut
};

/// The lines, and parts of lines, from which SentencePiece learns: together they have every byte of `text` but reserved
/// characters.
LearnableLines learnable_lines(std::vector<std::string> text);

/// The lines of all files with a word in them, or an even sample of them (`max_lines`, `seed`, `skip_invalid` of the
/// options). Logs how many were left out, and why.
/// @throws Error for what LineReader refuses, and for a line without the column that is wanted
std::vector<std::string> sample_lines(const std::vector<TextSource>& files, const VocabularyOptions& options);

/// The same of lines in memory.
std::vector<std::string> sample_lines(const std::vector<std::string>& lines, const VocabularyOptions& options);

}  // namespace tril
