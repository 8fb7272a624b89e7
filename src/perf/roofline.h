// What this machine gives at most, measured for as long as a blink: what a training step is compared with. All threads
// work at once, each on memory of its own, as a step's workers do.
#pragma once

#include "kern/kernels.h"
#include "nn/parameters.h"
#include "tensor/profile.h"

namespace tril::train {

/// Of all threads together, in one second.
struct Roofline {
  double flops = 0;        ///< matrix products of float32 in cache
  double mixed_flops = 0;  ///< of values rounded to bfloat16; 0: not measured
  double bytes = 0;        ///< read and written, both counted, by a copy that no cache holds

  /// What binds `work`: its products or its bytes, whichever take longer at the roof.
  enum class Bound : std::uint8_t { nothing, products, memory };
  Bound bound(const Work& work) const;
  /// The seconds that `work` takes at least where nothing else is in the way.
  double seconds(const Work& work) const;

 private:
  double product_seconds(const Work& work) const;
};

/// Takes about a second. bf16 measures both kinds of product.
Roofline measure_roofline(const kern::Kernels& kernels, int threads, nn::Precision precision);

/// Operations a second of products of 8 bits in cache, each thread on its own, all together.
double measure_quantized_products(const kern::Kernels& kernels, int threads);

/// Bytes a second that all threads together read of memory that no cache holds.
double measure_read_bandwidth(const kern::Kernels& kernels, int threads);

}  // namespace tril::train
