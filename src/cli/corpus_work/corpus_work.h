// One process's part in the translation of a text that several share (work_directory.h): block after block, until all are
// done by somebody.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cli/corpus_work/work_directory.h"
#include "cli/io/stop_signal.h"
#include "dist/launch.h"

namespace tril::cli {

struct CorpusWork {
  WorkPlan plan;
  dist::Launch ranks;
  std::size_t window = 1024;  ///< lines that are translated at a time
  bool progress = false;
  /// What is printed for these lines, the first of which is of this number from 0; less where the program is to stop.
  std::function<std::string(const std::vector<std::string>& lines, const std::vector<std::string>& prefixes,
                            std::int64_t first)>
      translate;
};

struct CorpusResult {
  bool complete = false;     ///< all is done and where it belongs; false: the program is to stop
  std::int64_t invalid = 0;  ///< lines of this process's blocks that were not UTF-8
};

CorpusResult work_on_corpus(const CorpusWork& work, const StopSignal& stop);

}  // namespace tril::cli
