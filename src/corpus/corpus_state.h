// The statistics of a corpus, and a position in its stream.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace tril {

/// Counts of one pass over the files.
struct CorpusStatistics {
  std::int64_t lines = 0;       ///< pairs read; a mixture counts repetitions
  std::int64_t empty = 0;       ///< left out: a side without tokens
  std::int64_t too_long = 0;    ///< left out or cropped
  std::int64_t invalid = 0;     ///< left out: not UTF-8
  std::int64_t weightless = 0;  ///< left out: of weight 0
  /// The place of the first pair of each kind ("train.en: line 3"); "" if none.
  std::string first_empty, first_too_long, first_invalid;
  std::int64_t used = 0;                              ///< pairs in batches
  std::int64_t source_tokens = 0, target_tokens = 0;  ///< of the pairs used, with "</s>"
  bool cropped = false;                               ///< too_long counts cropped pairs
  bool complete = false;                              ///< the pass went from the files' start to their end
  bool in_memory = false;                             ///< the whole corpus fits the memory limit

  /// One line of text: "29,000 pairs, 12 empty, 3 longer than the limit; 377,000 source and 365,000 target tokens".
  std::string report() const;
  friend bool operator==(const CorpusStatistics&, const CorpusStatistics&) = default;
};

/// The position in the stream, and totals so far. Small, and stored as JSON.
struct CorpusState {
  std::int64_t epoch = 0;           ///< completed epochs
  std::int64_t batch_in_epoch = 0;  ///< batches taken from the current epoch
  std::int64_t chunk = 0;           ///< the number of the current chunk in the epoch
  std::int64_t chunk_line = 0;      ///< the pair with which that chunk begins
  std::int64_t batch_in_chunk = 0;  ///< batches taken from that chunk
  std::int64_t batches = 0, sentences = 0, source_tokens = 0, target_tokens = 0;  ///< totals since the start
  std::uint64_t fingerprint = 0;  ///< of everything else that determines the stream; 0 matches any corpus
  std::uint64_t contents = 0;     ///< of the files' bytes (corpus_contents()); 0 matches any

  friend bool operator==(const CorpusState&, const CorpusState&) = default;
};
void to_json(nlohmann::json& json, const CorpusState& state);
void from_json(const nlohmann::json& json, CorpusState& state);

}  // namespace tril
