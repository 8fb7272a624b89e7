// Sums over the updates since the last report. They are part of a run's state, so that a resumed run reports the same
// means as an uninterrupted one.
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
  double seconds = 0;             ///< taken by the updates
  std::vector<GroupNorm> groups;  ///< over updates
  GradientNoise noise;
  std::int64_t tokens = 0;   ///< target tokens
  std::int64_t counted = 0;  ///< target tokens of finite updates, which `loss` sums over
  std::int64_t updates = 0;  ///< finite updates
  /// The last update that the sums lack, if the checkpoint is of an older version without sums; unset: they lack none.
  std::optional<std::int64_t> since;
};

}  // namespace tril::train
