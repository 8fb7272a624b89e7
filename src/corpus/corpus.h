// Files -> an endless stream of ragged batches, resumable at every batch.
//
// An epoch reads the files in chunks that fit the memory limit. A chunk is shuffled, sorted by length within pools and cut into
// batches by a token budget; its batches are shuffled. A corpus that fits into one chunk is tokenised once and kept. The stream
// depends only on options and files: threads that prepare batches ahead change its speed and nothing else.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "corpus/alignment.h"
#include "corpus/batch.h"
#include "corpus/corpus_state.h"
#include "tokenizer/files/tokenizer.h"

namespace tril {

enum class TooLong { skip, crop };

struct CorpusOptions {
  /// Parallel files, one pair of files after the other: line i of source[k] belongs to line i of target[k].
  std::vector<std::string> source, target;
  /// Or tab-separated files, with these columns (from 0).
  std::vector<std::string> tsv;
  int source_column = 0, target_column = 1;
  /// A file for each set (pair of files, or tab-separated file) with the weight of each pair's loss, one number a line;
  /// empty: all are 1. Pairs of weight 0 are left out.
  std::vector<std::string> weights;
  /// A file for each set with the alignment of each pair, "0-0 1-2", one a line; empty: none.
  std::vector<std::string> alignments;
  AlignmentUnits alignment_units = AlignmentUnits::words;  ///< words are separated by spaces
  /// For each set, the token before its source texts (">>de<<"), "" for none; empty: no set has one.
  std::vector<std::string> tags;

  /// Interleaves the sets in proportion to their shares (mixture.h), instead of one after the other.
  bool mix = false;
  double temperature = 1;      ///< of the mixture, at least 1
  std::vector<double> shares;  ///< explicit shares of the sets, instead of shares by size
  /// Random segmentations, drawn anew for each pair and epoch.
  SubwordSampling source_sampling, target_sampling;

  /// Budget of a batch: the sum of max(source length, target length) over its pairs, each with its "</s>".
  std::int64_t max_tokens = 4096;
  std::int64_t max_sentences = 0;  ///< most pairs in a batch; 0: no limit
  /// The longest side in ids, with "</s>"; max_tokens limits it too. A longer pair is counted, and left out or cropped
  /// (keeping "</s>").
  std::int32_t max_length = 256;
  TooLong too_long = TooLong::skip;

  bool shuffle = true;  ///< false: pairs and batches in the order of the files
  std::uint64_t seed = 1;
  /// For tokenised pairs. A corpus that fits into half of it is kept; a larger one is streamed: one half is in use
  /// while the next chunk is read into the other.
  std::int64_t memory_bytes = 512 << 20;
  int pool_batches = 100;  ///< batches' worth of pairs sorted by length together; 0: no sorting

  bool skip_invalid = false;  ///< skip and count pairs with invalid UTF-8, instead of an error
  int prefetch = 16;          ///< batches prepared ahead by another thread; 0: on demand
  int threads = 2;            ///< for tokenisation
};

/// The source of training batches.
class BatchStream {
 public:
  virtual ~BatchStream() = default;
  /// The next batch, never empty. The stream is endless.
  virtual Batch next() = 0;
  /// The state after the last batch from next().
  virtual const CorpusState& state() const = 0;
  /// Counts of what was read and left out, in one line of text; "" while unknown.
  virtual std::string report() const = 0;
};

/// Opens every file once. @throws Error for a missing, unreadable, empty or irregular file
void check_files(const CorpusOptions& options);

/// check_files(), and checks the tokenizer against the options. @throws Error on failure
void check_corpus(const CorpusOptions& options, const Tokenizer& tokenizer);

/// A hash of the files' contents. A file above 256 MiB is sampled in 64 evenly spaced stretches, including both ends,
/// which takes little time.
std::uint64_t corpus_contents(const CorpusOptions& options);

class Corpus : public BatchStream {
 public:
  /// Checks the options and opens every file once, so that a missing one is reported early.
  /// @param state  where to resume; default: the start
  /// @throws Error also if `state` belongs to another corpus or other options
  Corpus(CorpusOptions options, std::shared_ptr<const Tokenizer> tokenizer, const CorpusState& state = {});
  ~Corpus() override;
  Corpus(const Corpus&) = delete;
  Corpus& operator=(const Corpus&) = delete;

  /// The next batch, never empty. Errors in the files, found while reading ahead, are thrown here, at their place in
  /// the stream.
  Batch next() override;

  /// The state after the last batch from next(): a corpus constructed with it continues with the following batch.
  const CorpusState& state() const override;

  /// Statistics of the latest complete pass over the files, or of the current one if none is complete.
  CorpusStatistics statistics() const;
  /// The statistics of a complete pass.
  std::string report() const override;

  const CorpusOptions& options() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// One epoch as a list, for validation sets: every usable pair once.
std::vector<Batch> read_batches(const CorpusOptions& options, std::shared_ptr<const Tokenizer> tokenizer,
                                CorpusStatistics* statistics = nullptr);

}  // namespace tril
