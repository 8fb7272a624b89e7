// The first values of weights of which each rank may keep its own alone.
#pragma once

#include <cstdint>

#include "train/optim/optimizer.h"

namespace tril::train {

/// Gives every weight its first values; where weights are sharded, keeps those that this rank steps: no more than one weight
/// is whole at a time.
void initialise(nn::Parameters& parameters, const Optimizer& optimizer, std::uint64_t seed);

}  // namespace tril::train
