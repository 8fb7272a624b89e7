// Learns alignments from a corpus, with progress and a final line.
#pragma once

#include <string>
#include <vector>

#include "align/word_aligner.h"
#include "cli/io/stop_signal.h"
#include "corpus/corpus.h"
#include "tokenizer/files/tokenizer.h"

namespace tril::cli {

/// align_corpus() with messages; a signal ends it after the current iteration. @param files  one for each set
void learn_alignments(const CorpusOptions& corpus, const std::vector<std::string>& files, const StopSignal& stop,
                      bool quiet, const WordAlignerOptions& options = {}, const Tokenizer* tokenizer = nullptr);

}  // namespace tril::cli
