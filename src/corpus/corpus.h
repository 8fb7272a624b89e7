// Files -> an endless stream of ragged batches, resumable at every batch.
//
// An epoch reads the files in chunks that fit the memory bound; a chunk is shuffled whole, sorted by length within
// pools, cut into batches by a token budget, and its batches are shuffled. A corpus that fits in one chunk is tokenised
// once and kept. The stream is a function of options and files alone: threads that prepare ahead change its speed and
// nothing else.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "corpus/alignment.h"
#include "corpus/batch.h"
#include "tokenizer/files/tokenizer.h"

namespace tril {

enum class TooLong { skip, crop };

struct CorpusOptions {
  /// Pairs of files, one after the other: line i of source[k] goes with line i of target[k].
  std::vector<std::string> source, target;
  /// Or tab-separated files, with these of their columns (from 0).
  std::vector<std::string> tsv;
  int source_column = 0, target_column = 1;
  /// A file for each set (pair of files, or tab-separated one) with the weight of each pair's loss, a number a line;
  /// empty: all weigh 1. Pairs of weight 0 are left out.
  std::vector<std::string> weights;
  /// A file for each set with the alignment of each pair, "0-0 1-2", a line each; empty: there are none.
  std::vector<std::string> alignments;
  AlignmentUnits alignment_units = AlignmentUnits::words;  ///< words are what stands between spaces
  /// For each set the token that stands in front of its source texts (">>de<<"), "" for none; empty: none anywhere.
  std::vector<std::string> tags;

  /// Several sets are read together and mixed by shares (mixture.h) instead of one after the other.
  bool mix = false;
  double temperature = 1;      ///< of the mixture, at least 1
  std::vector<double> shares;  ///< of the sets in it, instead of shares by size
  /// Segmentations that are drawn anew for each pair and epoch.
  SubwordSampling source_sampling, target_sampling;

  /// Budget of a batch: the sum over its pairs of max(source length, target length), each with its "</s>".
  std::int64_t max_tokens = 4096;
  std::int64_t max_sentences = 0;  ///< pairs in a batch at most; 0: no bound of its own
  /// Of either side in ids, with "</s>"; max_tokens bounds it too. A longer pair is left out and counted, or cropped
  /// (keeping "</s>") and counted.
  std::int32_t max_length = 256;
  TooLong too_long = TooLong::skip;

  bool shuffle = true;  ///< else pairs come in the files' order, cut into batches as they come
  std::uint64_t seed = 1;
  /// For tokenised pairs. A corpus that fits in half of it is kept; a larger one streams through, that half in use
  /// while the next is read into the other.
  std::int64_t memory_bytes = 512 << 20;
  int pool_batches = 100;  ///< batches' worth of pairs that are sorted by length together; 0: no sorting

  bool skip_invalid = false;  ///< drop pairs with invalid UTF-8 and count them, instead of an error
  int prefetch = 16;          ///< batches prepared ahead by another thread; 0: prepared when asked for
  int threads = 2;            ///< that tokenise
};

/// What became of the lines in one pass over the files.
struct CorpusStatistics {
  std::int64_t lines = 0;       ///< pairs read, in a mixture as often as they come
  std::int64_t empty = 0;       ///< left out: a side without tokens
  std::int64_t too_long = 0;    ///< left out or cropped
  std::int64_t invalid = 0;     ///< left out: not UTF-8
  std::int64_t weightless = 0;  ///< left out: of weight 0
  /// Where the first one of each kind stands ("train.en: line 3"); "" where there is none.
  std::string first_empty, first_too_long, first_invalid;
  std::int64_t used = 0;                              ///< pairs in batches
  std::int64_t source_tokens = 0, target_tokens = 0;  ///< of the pairs used, with "</s>"
  bool cropped = false;                               ///< whether too_long counts cropped pairs
  bool complete = false;                              ///< whether the pass reached the files' end (from their start)
  bool in_memory = false;                             ///< whether the corpus fits the memory bound whole

  /// One line to read: "29,000 pairs, 12 empty, 3 longer than the limit; 377,000 source and 365,000 target tokens".
  std::string report() const;
  friend bool operator==(const CorpusStatistics&, const CorpusStatistics&) = default;
};

/// Where the stream goes on, and what it has given so far. Small, and JSON.
struct CorpusState {
  std::int64_t epoch = 0;           ///< whole epochs given
  std::int64_t batch_in_epoch = 0;  ///< batches of the running epoch given
  std::int64_t chunk = 0;           ///< which chunk of the running epoch,
  std::int64_t chunk_line = 0;      ///< the pair it starts at,
  std::int64_t batch_in_chunk = 0;  ///< and how many of its batches are given
  std::int64_t batches = 0, sentences = 0, source_tokens = 0, target_tokens = 0;  ///< given since the very start
  std::uint64_t fingerprint = 0;  ///< of all that decides the stream but what the files hold; 0 fits any corpus
  std::uint64_t contents = 0;     ///< of the files' bytes (corpus_contents()); 0 fits any

  /// The running epoch from its start, for a corpus whose options have changed.
  CorpusState restart_epoch() const;
  friend bool operator==(const CorpusState&, const CorpusState&) = default;
};
void to_json(nlohmann::json& json, const CorpusState& state);
void from_json(const nlohmann::json& json, CorpusState& state);

/// What training draws its batches from.
class BatchStream {
 public:
  virtual ~BatchStream() = default;
  /// The next batch, never empty; there is always one.
  virtual Batch next() = 0;
  /// The state after the batch that next() gave last.
  virtual const CorpusState& state() const = 0;
  /// What became of the text, in one line to read; "" while that is not known.
  virtual std::string report() const = 0;
};

/// Opens every file once. @throws Error for one that is missing, unreadable, empty, or no regular file
void check_files(const CorpusOptions& options);

/// check_files(), and whether the tokenizer can do what the options ask for. @throws Error where not
void check_corpus(const CorpusOptions& options, const Tokenizer& tokenizer);

/// A hash of what the files hold. Of one above 256 MiB it takes 64 stretches at even distances, its two ends among them:
/// so many bytes are read at once without much of a wait.
std::uint64_t corpus_contents(const CorpusOptions& options);

class Corpus : public BatchStream {
 public:
  /// Checks the options and opens every file once, so that a missing one is known at once.
  /// @param state  where to go on; by default at the start
  /// @throws Error also where `state` is of another corpus or of other options
  Corpus(CorpusOptions options, std::shared_ptr<const Tokenizer> tokenizer, const CorpusState& state = {});
  ~Corpus() override;
  Corpus(const Corpus&) = delete;
  Corpus& operator=(const Corpus&) = delete;

  /// The next batch, never empty. Errors in the files (found while reading ahead) are thrown here, in their place in
  /// the stream.
  Batch next() override;

  /// The state after the batch that next() gave last: a corpus made with it goes on with the batch after.
  const CorpusState& state() const override;

  /// The latest complete pass over the files, or the running one where none is complete yet.
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
