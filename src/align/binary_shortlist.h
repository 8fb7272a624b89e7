// The binary shortlists of Marian and Bergamot (lex.*.bin): for each source word, the target words that may translate it.
//
// Numbers are little-endian. A file holds, in order:
//   u64 magic number
//   u64 checksum of all u64 that follow it
//   u64 number of most frequent target words, which every list includes; u64 length of the longest list
//   u64 number of offsets, u64 number of words
//   the offsets, u64 each: for each source word, where its list begins among the words; then the end of the last list
//   the words, u32 each
// Source: data/shortlist.cpp of marian-dev.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "align/lexical_table.h"

namespace tril {

/// The content of such a file.
struct BinaryShortlist {
  std::int64_t first = 0;  ///< the target words 0 to first - 1 are in every list
  std::int64_t best = 0;   ///< the length of the longest list
  /// The file has no probabilities and shares: each entry's probability is 1, and all shares are 0.
  LexicalTable table;
};

/// True if the file begins with the magic number.
bool begins_as_binary_shortlist(const std::string& path);

struct ShortlistSizes {
  std::int64_t source = 0, target = 0;  ///< words of each side
  bool shared = false;                  ///< one vocabulary: then each source word may also be copied, as in Marian
};
/// @throws Error with the file and the reason if it is damaged, or has words that the model lacks
BinaryShortlist read_binary_shortlist(const std::string& path, const ShortlistSizes& sizes);
/// The same from bytes. @param where  names them in errors
BinaryShortlist read_binary_shortlist(std::span<const std::byte> bytes, const std::string& where,
                                      const ShortlistSizes& sizes);

}  // namespace tril
