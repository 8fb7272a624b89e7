// Reads pairs of lines from two parallel files, or from two columns of a tab-separated file, with a weight for each
// pair from a third; several such sets one after the other, or interleaved.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "corpus/corpus.h"
#include "corpus/mixture.h"
#include "corpus/reader.h"

namespace tril {

struct PairText {
  std::string source, target;
  bool valid = true;      ///< false: a side is not UTF-8 (only with skip_invalid)
  float weight = 1;       ///< of the pair's loss
  Alignment alignment;    ///< as in the file
  std::size_t set = 0;    ///< the number of its set
  std::int64_t line = 0;  ///< in that set's files, from 1
};

/// A pair's place for messages: "train.en: line 3".
std::string place_of(const CorpusOptions& options, const PairText& pair);

/// The tag of the pair's set, which precedes its source: "" if the set has none or the source is blank.
std::string_view tag_of(const CorpusOptions& options, const PairText& pair);
/// The source as the model sees it: after its tag, as in translation (prepend_language_tag()).
std::string tagged_source(const CorpusOptions& options, const PairText& pair);

/// One set: its two files (or its tab-separated one) and its weights.
class SetReader {
 public:
  SetReader(const CorpusOptions& options, std::size_t set);

  /// Reads the next pair; false at the end.
  /// @throws Error if one file ends before the other, naming both counts
  bool next(PairText& pair);
  /// Skips up to `count` pairs; returns how many there were.
  std::int64_t skip(std::int64_t count);

 private:
  [[noreturn]] void fail_unequal();
  [[noreturn]] void fail_lines(LineReader& of_pairs, std::string_view what);
  void take_columns(PairText& pair);
  void take_weight(PairText& pair, bool at_end);
  void take_alignment(PairText& pair, bool at_end);

  const CorpusOptions& options_;
  std::size_t set_;
  LineReader source_;
  std::optional<LineReader> target_;   ///< none for tab-separated files
  std::optional<LineReader> weights_;  ///< null: all pairs have weight 1
  std::optional<LineReader> alignments_;
  std::string line_;  ///< buffer for a tab-separated line, a weight or an alignment
};

class PairReader {
 public:
  /// @param sizes  pairs of each set, to interleave them; empty: one set after the other
  explicit PairReader(const CorpusOptions& options, const std::vector<std::int64_t>& sizes = {});

  /// Reads the next pair; false at the end of all sets.
  bool next(PairText& pair);

  /// Skips up to `count` pairs.
  void skip(std::int64_t count);

  std::int64_t position() const { return position_; }  ///< pairs read and skipped

 private:
  SetReader& reader(std::size_t set);
  bool next_in_row(PairText& pair);
  bool next_interleaved(PairText& pair);
  void skip_in_row(std::int64_t count);
  void skip_to_round(std::int64_t round);
  void check_ends();

  const CorpusOptions& options_;
  std::vector<std::unique_ptr<SetReader>> readers_;  ///< opened on demand
  std::optional<Interleaving> order_;
  std::int64_t position_ = 0, round_ = 0;
  std::size_t set_ = 0;    ///< the current set
  std::int64_t left_ = 0;  ///< interleaved: pairs that this set still has in the current round
};

/// Reads every pair once. @throws Error for what would end a training run later: files of unequal lengths, invalid
/// lines, missing columns, malformed weights or alignments
void check_pairs(const CorpusOptions& options);

/// Counts the pairs of each set: reads every file once.
std::vector<std::int64_t> count_pairs(const CorpusOptions& options);

}  // namespace tril
