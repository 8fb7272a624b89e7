// One process's share of a text that several processes translate (work_directory.h): block after block, until all are
// done.
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
  std::size_t window = 1024;  ///< lines translated at a time
  bool progress = false;
  /// The output for these lines, the first of which has this number, from 0; less if the program is to stop.
  std::function<std::string(const std::vector<std::string>& lines, const std::vector<std::string>& prefixes,
                            std::int64_t first)>
      translate;
};

struct CorpusResult {
  bool complete = false;     ///< everything is done and in place; false: the program is to stop
  std::int64_t invalid = 0;  ///< lines in this process's blocks that were not UTF-8
};

CorpusResult work_on_corpus(const CorpusWork& work, const StopSignal& stop);

}  // namespace tril::cli
