// What a rank's workers are to do: set once for a run.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "dist/ranks.h"
#include "kern/kernels.h"
#include "nn/parameters.h"
#include "train/distributed/exchange.h"
#include "train/loss/batch_loss.h"

namespace tril::train {

struct WorkersOptions {
  int threads = 1;
  int parts = 1;  ///< of each batch; at least `threads`
  /// Values of one activation [tokens, d_model] that a pass may have: a step keeps some twenty of them a layer for its
  /// backward walk, and more tokens than these make no product faster.
  std::int64_t pass_values = 393'216;
  LossSettings loss;
  double clip_norm = 0;             ///< 0: none
  std::int64_t dropout_warmup = 0;  ///< updates over which dropout sets in; 0: from the first
  std::uint64_t seed = 1;           ///< of dropout
  nn::Precision precision = nn::Precision::fp32;
  const kern::Kernels* kernels = &kern::best();
  bool profile = false;  ///< note where the time goes
  std::shared_ptr<dist::Ranks> ranks = dist::Ranks::alone();
  bool fixed_order = false;  ///< the same bits for any number of ranks
  WirePrecision wire = WirePrecision::fp32;
  std::function<void()> before_step;  ///< called once in every update before weights change; may be empty
  bool shard_weights = false;  ///< no rank has all weights and gradients (sharding.h); nothing to do for one rank
  /// Asked before each pass of an update of several batches, by many threads at once, where there is one rank: true
  /// breaks the update off. May be empty
  std::function<bool()> stop;
  bool overlap = true;  ///< gradients travel while others are computed; false, for comparison: once all are there
};

}  // namespace tril::train
