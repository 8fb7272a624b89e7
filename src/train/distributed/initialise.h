// Initialises weights, of which each rank may keep only its own.
#pragma once

#include <cstdint>

#include "train/optim/optimizer.h"

namespace tril::train {

/// Initialises every weight; if weights are sharded, keeps only those that this rank steps: at most one whole weight
/// exists at a time.
void initialise(nn::Parameters& parameters, const Optimizer& optimizer, std::uint64_t seed);

}  // namespace tril::train
