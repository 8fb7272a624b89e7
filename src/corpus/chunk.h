// A tokenised part of a corpus in memory.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/as_size.h"
#include "corpus/corpus.h"
#include "corpus/pair_reader.h"
#include "tokenizer/files/tokenizer.h"

namespace tril {

/// @throws Error(usage) for a tag that is not in the vocabulary, or a sampling method that it does not support
void check_tokenizer(const CorpusOptions& options, const Tokenizer& tokenizer);

/// Everything that determines the pairs of a corpus, except its files.
struct Preparation {
  /// @throws Error if the tokenizer does not support the options
  Preparation(const CorpusOptions& options, std::shared_ptr<const Tokenizer> tokenizer);

  const CorpusOptions& options;
  std::shared_ptr<const Tokenizer> tokenizer;
  std::unique_ptr<const SubwordSampler> source_sampler, target_sampler;  ///< null: deterministic segmentation
  std::vector<std::int64_t> sizes;                                       ///< pairs of each set of a mixture
  std::vector<double> rates;                                             ///< how often a pair of each occurs per epoch

  PairReader reader() const { return PairReader(options, sizes); }
  std::int64_t times(const PairText& pair, std::int64_t line, std::int64_t epoch) const;
  /// Whether a pair, or how often it occurs, may differ between epochs.
  bool varies() const;
};

/// Pairs of rows, each row ending with "</s>".
class Chunk {
 public:
  std::int64_t first_line = 0;  ///< the number of its first pair in the corpus
  std::int64_t next_line = 0;   ///< the number of the pair after its last
  bool at_end = false;          ///< no more pairs in the files
  CorpusStatistics statistics;  ///< of the lines it was read from

  void append(std::span<const std::int32_t> source, std::span<const std::int32_t> target, std::int64_t line);
  void append_weight(float weight);  ///< of the last appended pair; for all pairs or for none
  void append_alignment(std::span<const AlignmentPoint> points);  ///< likewise

  std::size_t size() const { return pairs_.size(); }
  std::int32_t source_length(std::size_t i) const { return pairs_[i].source_length; }
  std::int32_t target_length(std::size_t i) const { return pairs_[i].target_length; }
  std::span<const std::int32_t> source(std::size_t i) const { return row(i).first(pairs_[i].source_offset()); }
  std::span<const std::int32_t> target(std::size_t i) const { return row(i).subspan(pairs_[i].source_offset()); }
  std::int64_t line(std::size_t i) const { return pairs_[i].line; }
  std::span<const float> weights() const { return weights_; }  ///< by pair; empty: all are 1
  bool has_alignments() const { return !alignment_ends_.empty(); }
  std::span<const AlignmentPoint> alignment(std::size_t i) const {
    const std::size_t begin = i == 0 ? 0 : alignment_ends_[i - 1];
    return std::span(points_).subspan(begin, alignment_ends_[i] - begin);
  }
  std::int64_t bytes() const { return bytes_; }  ///< approximate memory

 private:
  struct Pair {
    std::uint32_t block, offset;
    std::int32_t source_length, target_length;
    std::int64_t line;
    std::size_t source_offset() const { return as_size(source_length); }
  };
  std::span<const std::int32_t> row(std::size_t i) const {
    const Pair& p = pairs_[i];
    return std::span(blocks_[p.block]).subspan(p.offset, as_size(p.source_length + p.target_length));
  }

  // Ids are in blocks that never move: a single vector would need three times its size while it grows.
  std::vector<std::vector<std::int32_t>> blocks_;
  std::vector<Pair> pairs_;
  std::vector<float> weights_;
  std::vector<AlignmentPoint> points_;
  std::vector<std::size_t> alignment_ends_;  ///< by pair, in points_
  std::int64_t bytes_ = 0;
};

/// Reads and tokenises pairs until they take `limit` bytes (exceeded by at most some 1,000 pairs) or the files end.
/// `stop` ends it early, when the stream is no longer needed.
Chunk read_chunk(PairReader& reader, const Preparation& how, std::int64_t epoch, std::int64_t limit,
                 const std::atomic<bool>& stop);

/// The batches of a chunk: batch i holds the pairs order[begin], ..., order[end - 1] of batches[i].
struct BatchPlan {
  std::vector<std::uint32_t> order;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> batches;  ///< begin and end in `order`
};

/// Shuffles, sorts by length within pools, cuts by the budget and shuffles the batches: a pure function of its arguments.
BatchPlan plan_batches(const Chunk& chunk, const CorpusOptions& options, std::int64_t epoch, std::int64_t chunk_index);

}  // namespace tril
