// The lines from which a vocabulary is learned: the non-blank lines of its files, or a uniform sample of them, in a
// form in which SentencePiece learns from every byte.
//
// Its trainer silently skips lines above a byte limit, and lines with a character that it reserves for itself. So longer lines
// are split. A part begins with a blank if possible, so that words stay intact; else between two characters.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "corpus/vocabulary.h"

namespace tril {

/// Bytes. SentencePiece numbers the characters of a word in 16 bits, and NFKC makes up to two of a byte (U+3316).
inline constexpr std::size_t longest_learnable_line = 16'384;
/// SentencePiece's symbol for unknown characters during training.
inline constexpr std::string_view reserved_character = "\u2585";

struct LearnableLines {
  std::vector<std::string> lines;
  std::int64_t cut = 0;       ///< lines that were too long and were split
  std::int64_t reserved = 0;  ///< lines with the reserved character, at which they are split
};

/// The lines, and parts of lines, for SentencePiece: together they contain every byte of `text` except reserved characters.
LearnableLines learnable_lines(std::vector<std::string> text);

/// The non-blank lines of all files, or a uniform sample of them (`max_lines`, `seed`, `skip_invalid` of the options).
/// Logs how many were left out, and why.
/// @throws Error for whatever LineReader refuses, and for a line that lacks the column
std::vector<std::string> sample_lines(const std::vector<TextSource>& files, const VocabularyOptions& options);

/// Likewise, from lines in memory.
std::vector<std::string> sample_lines(const std::vector<std::string>& lines, const VocabularyOptions& options);

}  // namespace tril
