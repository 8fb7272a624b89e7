// How many threads a process may have where several are on one machine.
#pragma once

#include <unistd.h>

#include <algorithm>

#include "base/cores.h"
#include "dist/ranks.h"
#include "train/loop/options.h"

namespace tril::cli {

/// Where --threads was left to us: the cores of a machine are shared by the ranks on it, unless their launcher has dealt them
/// out itself.
inline void share_cores(train::RunOptions& run, const dist::Ranks& ranks) {
  if (run.threads > 0 || ranks.size() == 1) return;
  const int own = thread_count(0), all = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  run.threads = own < all ? own : std::max(1, own / ranks.neighbours());
}

}  // namespace tril::cli
