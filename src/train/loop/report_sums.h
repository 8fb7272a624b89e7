// What the next report is made of: sums over the updates since the one before. They are part of a run's state, so that a
// run that goes on reports the same means as one that never stopped.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "train/optim/gradient_noise.h"
#include "train/optim/optimizer.h"

namespace tril::train {

struct ReportSums {
  double loss = 0;                ///< over target tokens
  double norm = 0;                ///< of gradients, over updates
  double seconds = 0;             ///< that the updates took
  std::vector<GroupNorm> groups;  ///< over updates
  GradientNoise noise;
  std::int64_t tokens = 0;   ///< target tokens
  std::int64_t counted = 0;  ///< those in `loss`: of updates that were finite
  std::int64_t updates = 0;  ///< that were finite
  /// Updates before this one are missing, of a state that has no sums (older ones have none); none: all are there.
  std::optional<std::int64_t> since;
};

}  // namespace tril::train
