// Settings of a rank's workers, fixed for a run.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "base/placement.h"
#include "dist/ranks.h"
#include "kern/kernels.h"
#include "nn/parameters.h"
#include "train/distributed/exchange.h"
#include "train/loss/batch_loss.h"

namespace tril::train {

struct WorkersOptions {
  int threads = 1;
  Placement placement;  ///< of the workers
  int parts = 1;        ///< of each batch; at least `threads`
  /// The most values of an activation [tokens, d_model] in a pass: a layer saves some twenty of these for the backward
  /// pass, and more tokens do not make products any faster.
  std::int64_t pass_values = 393'216;
  LossSettings loss;
  double clip_norm = 0;             ///< 0: no clipping
  std::int64_t dropout_warmup = 0;  ///< updates over which dropout is phased in; 0: full from the first
  std::uint64_t seed = 1;           ///< of dropout
  nn::Precision precision = nn::Precision::fp32;
  const kern::Kernels* kernels = &kern::best();
  bool profile = false;  ///< measure where the time goes
  std::shared_ptr<dist::Ranks> ranks = dist::Ranks::alone();
  bool fixed_order = false;  ///< bit-identical results for any number of ranks
  WirePrecision wire = WirePrecision::fp32;
  std::function<void()> before_step;  ///< called once in every update before weights change; may be empty
  bool shard_weights = false;         ///< no rank has all weights and gradients (sharding.h); no effect for one rank
  /// With one rank, polled before each pass of an update of several batches, by many threads at once: true breaks the
  /// update off. May be empty
  std::function<bool()> stop;
  bool overlap = true;  ///< send gradients while others are computed; false, for comparison: after all are computed
};

}  // namespace tril::train
