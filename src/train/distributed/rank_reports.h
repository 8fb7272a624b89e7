// What the ranks exchange about an update before they step.
#pragma once

#include <span>
#include <vector>

#include "corpus/batch.h"
#include "dist/ranks.h"
#include "train/optim/gradient_noise.h"

namespace tril::train {

struct RankReport {
  double seconds = 0;                        ///< taken to compute its gradient
  std::vector<double> losses;                ///< by batch and part
  std::vector<PartGradient> part_gradients;  ///< GradientReducer::part_gradients()
  std::vector<double> squares;               ///< Optimizer::own_squares()
};

/// All ranks' reports, by rank.
/// @throws Error if a rank has other batches
std::vector<RankReport> exchange_reports(dist::Ranks& ranks, std::span<const Batch> batches, const RankReport& mine);

}  // namespace tril::train
