// Alignments learned from a corpus, with progress and a line that says what came of it.
#pragma once

#include <string>
#include <vector>

#include "text/corpus.h"
#include "text/word_aligner.h"

namespace tril::cli {

/// align_corpus() for people. @param files  one for each set
void learn_alignments(const CorpusOptions& corpus, const std::vector<std::string>& files, bool quiet,
                      const WordAlignerOptions& options = {});

}  // namespace tril::cli
