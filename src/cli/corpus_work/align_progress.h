// Learns alignments from a corpus, with progress and a final line.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "align/word_aligner.h"
#include "corpus/corpus.h"
#include "tokenizer/files/tokenizer.h"

namespace tril::cli {

/// The arguments of align_corpus().
struct AlignmentTask {
  CorpusOptions corpus;
  std::vector<std::string> files;  ///< one for each set
  WordAlignerOptions options = {};
  const Tokenizer* tokenizer = nullptr;  ///< null: words between spaces
  bool quiet = false;                    ///< without a progress line
};

/// align_corpus() with messages; a request to stop ends it after the current iteration.
void learn_alignments(const AlignmentTask& task, const std::stop_token& stop);

}  // namespace tril::cli
