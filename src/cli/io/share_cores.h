// The number of threads of a process if several run on one machine.
#pragma once

#include <unistd.h>

#include <algorithm>

#include "base/cores.h"
#include "dist/ranks.h"
#include "train/loop/options.h"

namespace tril::cli {

/// If --threads is not given: divides a machine's cores among its ranks, unless the launcher has assigned cores
/// already.
inline void share_cores(train::RunOptions& run, const dist::Ranks& ranks) {
  if (run.threads > 0 || ranks.size() == 1) return;
  const int own = thread_count(0), all = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  run.threads = own < all ? own : std::max(1, own / ranks.neighbours());
}

}  // namespace tril::cli
