// Learns byte-pair encoding [Sennrich et al. 2016, algorithm 1] over bytes [Radford et al. 2019, section 2.2]: the most frequent
// pair of neighbours within words becomes a token, repeatedly. Pieces, their ids and merges equal those of BpeTrainer of the
// `tokenizers` library with its ByteLevel alphabet.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tril {

/// How often each word occurs.
struct WordCounts {
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view s) const { return std::hash<std::string_view>{}(s); }
  };
  std::unordered_map<std::string, std::int64_t, Hash, std::equal_to<>> counts;

  void add(std::string_view word) {
    if (const auto known = counts.find(word); known != counts.end())
      ++known->second;
    else
      counts.emplace(word, 1);
  }
};

struct BpeTrainerOptions {
  std::int64_t size = 8000;          ///< pieces, with special ones and the 256 bytes
  std::int64_t min_frequency = 2;    ///< a rarer pair is not merged
  std::vector<std::string> special;  ///< the first pieces, in this order; no text is made of them
};

/// Ids are indices of `pieces`: special ones, the bytes in the order of their letters, and one for each merge that makes a new piece.
struct LearnedBpe {
  std::vector<std::string> pieces;                            ///< in GPT-2's letters for bytes
  std::vector<std::pair<std::int32_t, std::int32_t>> merges;  ///< by rank, each pair once
};

/// A pure function of counts and options: of equally frequent pairs, the one with the smaller ids is merged first. Stops early if no
/// pair is frequent enough.
LearnedBpe train_bpe(const WordCounts& words, const BpeTrainerOptions& options);

}  // namespace tril
