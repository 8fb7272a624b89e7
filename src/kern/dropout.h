// Dropout as a function of a counter, so that forward and backward passes and any split of the work drop the same values.
#pragma once

#include "base/rng.h"

namespace tril::kern {

/// Dropout with probability p from the stream `key`: element i is zero where random_bits(key, i) < dropout_threshold(p), and
/// x / (1 - p) otherwise. p = 0 drops nothing.
struct Dropout {
  float p = 0;
  RandomKey key;
};

}  // namespace tril::kern
