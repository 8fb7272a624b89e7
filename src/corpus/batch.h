// Pairs of token rows for one step of training or translation: ragged, without padding.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/rows.h"
#include "corpus/alignment.h"

namespace tril {

/// Row i of `source` and row i of `target` are a pair; every row ends with its side's end-of-sentence id. The decoder's
/// input is the decoder start id and then the target, shifted right by one. A language model's rows have one length:
/// the source is what it reads, the target what follows each of those tokens.
struct Batch {
  Rows source, target;
  std::vector<std::int32_t> source_ids, target_ids;  ///< [source.tokens()], [target.tokens()]
  std::vector<std::int64_t> lines;                   ///< the pair's number in the corpus, from 0
  std::vector<float> weights;                        ///< of each pair's loss; empty: all are 1
  std::vector<Alignment> alignments;                 ///< of each pair's tokens; empty: unknown
  std::int64_t epoch = 0;                            ///< from 0
  bool last_of_epoch = false;

  std::int64_t sentences() const { return std::ssize(lines); }
  std::int64_t source_tokens() const { return source.tokens(); }
  std::int64_t target_tokens() const { return target.tokens(); }

  void append(std::span<const std::int32_t> source_row, std::span<const std::int32_t> target_row, std::int64_t line);
  std::span<const std::int32_t> source_row(std::int64_t i) const;
  std::span<const std::int32_t> target_row(std::int64_t i) const;
  /// The weight of each target token, equal to that of its pair: [target_tokens()], or empty.
  std::vector<float> token_weights() const;

  /// The attention weight that each source token should have for each target token: 1, shared among the aligned source
  /// tokens. The pairs' matrices [target length, source length], concatenated. Tokens without alignment have zeros.
  std::vector<float> wanted_attention() const;

  friend bool operator==(const Batch&, const Batch&) = default;
};

/// Distributes the pairs over `parts` batches of nearly equal tokens (source plus target), deterministically: the
/// longest pair first, each to the part with the fewest tokens. Pairs keep their order within a part; if there are
/// fewer pairs than parts, some parts are empty.
std::vector<Batch> split(const Batch& batch, int parts);

}  // namespace tril
