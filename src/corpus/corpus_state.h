// The two small records of a corpus: what was read, and where it goes on.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace tril {

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

  friend bool operator==(const CorpusState&, const CorpusState&) = default;
};
void to_json(nlohmann::json& json, const CorpusState& state);
void from_json(const nlohmann::json& json, CorpusState& state);

}  // namespace tril
