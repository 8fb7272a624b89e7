// The binary shortlists of Marian and Bergamot (lex.*.bin): for each source word, the target words that may translate it.
//
// A file is, in little-endian numbers: u64 magic, u64 checksum, u64 number of most frequent words, u64 most words of one source
// word, u64 count of offsets, u64 count of words; the offsets, u64 each, where each source word's list begins in the words, and
// one more for the end; the words, u32 each. The checksum is over all u64 behind it. Source: data/shortlist.cpp of marian-dev.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "align/lexical_table.h"

namespace tril {

/// What such a file says.
struct BinaryShortlist {
  std::int64_t first = 0;  ///< the target words 0 to first - 1 are always there
  std::int64_t best = 0;   ///< the longest list
  LexicalTable table;      ///< each entry's probability is 1, and all shares are zero: the file has none
};

/// Whether a file begins as these do.
bool begins_as_binary_shortlist(const std::string& path);

struct ShortlistSizes {
  std::int64_t source = 0, target = 0;  ///< words of each side
  bool shared = false;                  ///< one vocabulary: a source word may then be copied, as in Marian
};
/// @throws Error with the file and the reason if it is damaged, or has words that the model lacks
BinaryShortlist read_binary_shortlist(const std::string& path, const ShortlistSizes& sizes);
/// The same of bytes. @param where  names them in errors
BinaryShortlist read_binary_shortlist(std::span<const std::byte> bytes, const std::string& where,
                                      const ShortlistSizes& sizes);

}  // namespace tril
