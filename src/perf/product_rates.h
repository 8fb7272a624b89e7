// How fast this machine multiplies with weights, measured with the ops that serve: by a step of one token, which reads every
// weight for one multiply-add, and by a prompt, which uses each for many.
#pragma once

#include <cstdint>

#include "nn/parameters.h"
#include "tensor/context.h"

namespace tril::train {

/// The matrices to measure with: those of a feed-forward layer of this width, as many as take `bytes`. Of a layer
/// of more than 256 MiB, a part.
struct MeasuredWeights {
  std::int64_t width = 1024;
  std::int64_t bytes = std::int64_t{1} << 27;
  kern::BlockFormat blocks = kern::BlockFormat::none;  ///< with Precision::blocks
};

struct ProductRates {
  double weight_bytes = 0;   ///< per second, by one row
  double multiply_adds = 0;  ///< per second, by 128 rows together
};

/// Takes about a quarter of a second.
/// @param c  its team shares the work, as in generation
ProductRates measure_product_rates(Context& c, nn::Precision precision, const MeasuredWeights& weights);

}  // namespace tril::train
