// The alignments of a corpus in files, as `tril align` and `tril train --guided-alignment learn` make them.
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
  std::int64_t points = 0;  ///< "0-0"s in them
  /// Pairs that get an empty line: one side has more than ParallelWords::most_words, or is not UTF-8 (with skip_invalid);
  /// and where the first one stands, "" where there is none.
  std::int64_t too_long = 0, invalid = 0;
  std::string first_too_long, first_invalid;
};

/// Learns from the pairs of all sets together and writes a line for each pair of set k into files[k]: "0-0 1-2", empty for
/// a pair that is not UTF-8 (with skip_invalid) or that has nothing to align.
/// @param files  one for each set; each is there as a whole or not at all
/// @param tokenizer  words are those that words_of() counts of its ids, for one that check_marks_words() takes; null: what
/// stands between spaces
/// @param on_iteration  as align_words() has it
AlignmentCounts align_corpus(const CorpusOptions& corpus, const std::vector<std::string>& files,
                             const WordAlignerOptions& options, const Tokenizer* tokenizer = nullptr,
                             const std::function<void()>& on_iteration = {});

}  // namespace tril
