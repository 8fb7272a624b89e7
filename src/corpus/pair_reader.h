// Pairs of lines from two aligned files, or from two columns of a tab-separated one, with a weight for each pair from a
// third; several such sets one after the other, or interleaved.
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
  bool valid = true;      ///< false: a side is not UTF-8 (met only with skip_invalid)
  float weight = 1;       ///< of the pair's loss
  Alignment alignment;    ///< as the file has it
  std::size_t set = 0;    ///< which of the sets it comes from
  std::int64_t line = 0;  ///< of that set's files, from 1
};

/// Where a pair stands, for people: "train.en: line 3".
std::string place_of(const CorpusOptions& options, const PairText& pair);

/// The tag of the pair's set, which stands in front of its source: "" where the set has none or the source is blank.
std::string_view tag_of(const CorpusOptions& options, const PairText& pair);
/// The source as a model is given it: behind its tag, as one who translates gives it (prepend_language_tag()).
std::string tagged_source(const CorpusOptions& options, const PairText& pair);

/// One set: its two files (or its tab-separated one) and its weights.
class SetReader {
 public:
  SetReader(const CorpusOptions& options, std::size_t set);

  /// Reads the next pair; false at the end.
  /// @throws Error where one file of a pair ends before the other, naming both counts
  bool next(PairText& pair);
  /// Goes past up to `count` pairs; returns how many there were.
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
  std::optional<LineReader> weights_;  ///< none where all pairs weigh 1
  std::optional<LineReader> alignments_;
  std::string line_;  ///< of a tab-separated file, of the weights, or of the alignments
};

class PairReader {
 public:
  /// @param sizes  pairs of each set, where they are to be interleaved; empty: one after the other
  explicit PairReader(const CorpusOptions& options, const std::vector<std::int64_t>& sizes = {});

  /// Reads the next pair; false at the end of all sets.
  bool next(PairText& pair);

  /// Goes past up to `count` pairs.
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
  std::vector<std::unique_ptr<SetReader>> readers_;  ///< opened when they are needed
  std::optional<Interleaving> order_;
  std::int64_t position_ = 0, round_ = 0;
  std::size_t set_ = 0;    ///< which is read
  std::int64_t left_ = 0;  ///< interleaved: pairs that this set has left in the running round
};

/// Reads every pair once. @throws Error for what would end a training run at some later time: files of unequal lengths, lines
/// that are no text, that lack a column, or whose weight or alignment is none
void check_pairs(const CorpusOptions& options);

/// Pairs of each set: reads every file once.
std::vector<std::int64_t> count_pairs(const CorpusOptions& options);

}  // namespace tril
