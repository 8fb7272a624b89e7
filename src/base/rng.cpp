#include "base/rng.h"

#include <cmath>
#include <numbers>

namespace tril {

double RandomSequence::normal() {
  const double u = 1.0 - uniform();  // in (0, 1], so the logarithm is finite
  return std::sqrt(-2.0 * std::log(u)) * std::cos(2.0 * std::numbers::pi * uniform());
}

}  // namespace tril
