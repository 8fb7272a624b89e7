// Dropout as a function of a counter, so that forward and backward passes drop the same values for any split of the
// work.
#pragma once

#include "base/rng.h"

namespace tril::kern {

/// Dropout with probability p from the stream `key`: element i is zero if random_bits(key, i) <
/// dropout_threshold(p), otherwise x / (1 - p). p = 0 drops nothing.
struct Dropout {
  float p = 0;
  RandomKey key;
};

}  // namespace tril::kern
