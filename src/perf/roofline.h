// The machine's peak rates, measured for about a second: the reference for a training step. All threads work at
// once, each on its own memory, like the workers of a step.
#pragma once

#include "kern/kernels.h"
#include "nn/parameters.h"
#include "tensor/profile.h"

namespace tril::train {

/// Rates of all threads together, per second.
struct Roofline {
  double flops = 0;        ///< matrix products of float32 operands in cache
  double mixed_flops = 0;  ///< of values rounded to bfloat16; 0: not measured
  double bytes = 0;        ///< read and written, both counted, by a copy too large for the caches

  /// The limit of `work`: products or memory, whichever takes longer at peak rates.
  enum class Bound : std::uint8_t { nothing, products, memory };
  Bound bound(const Work& work) const;
  /// The minimum time of `work` in seconds.
  double seconds(const Work& work) const;

 private:
  double product_seconds(const Work& work) const;
};

/// Takes about a second. bf16 measures both kinds of product.
Roofline measure_roofline(const kern::Kernels& kernels, int threads, nn::Precision precision);

/// Operations per second of 8-bit products in cache, of all threads together, each on its own data.
double measure_quantized_products(const kern::Kernels& kernels, int threads);

/// Bytes per second that all threads together read from memory beyond the caches.
double measure_read_bandwidth(const kern::Kernels& kernels, int threads);

}  // namespace tril::train
