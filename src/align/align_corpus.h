// Writes the alignments of a corpus to files, for `tril align` and `tril train --guided-alignment learn`.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "align/word_aligner.h"
#include "corpus/corpus.h"
#include "tokenizer/files/tokenizer.h"

namespace tril {

struct AlignmentCounts {
  std::int64_t pairs = 0;   ///< lines
  std::int64_t points = 0;  ///< points in them, such as "0-0"
  /// Pairs that get an empty line: a side has more than ParallelWords::most_words, or is not UTF-8 (with skip_invalid).
  /// And the place of the first such pair, or "".
  std::int64_t too_long = 0, invalid = 0;
  std::string first_too_long, first_invalid;
};

/// Learns from the pairs of all sets together and writes a line for each pair of set k to files[k]: "0-0 1-2", empty
/// for a pair that is not UTF-8 (with skip_invalid) or has nothing to align.
/// @param files  one for each set, each written atomically
/// @param tokenizer  words are counted by words_of() from its ids; it must pass check_marks_words(). Null: words between spaces
/// @param on_iteration  as in align_words()
AlignmentCounts align_corpus(const CorpusOptions& corpus, const std::vector<std::string>& files,
                             const WordAlignerOptions& options, const Tokenizer* tokenizer = nullptr,
                             const std::function<void()>& on_iteration = {});

}  // namespace tril
