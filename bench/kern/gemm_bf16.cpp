// Products of bfloat16 at the shapes of training, including the packing of A: GFLOP/s of one core, to compare with
// gemm.cpp's float32.
#include <benchmark/benchmark.h>

#include <vector>

#include "kern/gemm_bf16.h"
#include "kern/kernels.h"

namespace tril::kern {
namespace {

void product(benchmark::State& state, const Kernels& k, bool weight_gradient) {
  const auto m = static_cast<std::size_t>(state.range(0)), n = static_cast<std::size_t>(state.range(1)),
             depth = static_cast<std::size_t>(state.range(2));
  std::vector<float> a(m * depth, 0.5f), b(depth * n, 0.25f), c(m * n);
  std::vector<std::uint16_t> packed(packed_right_values(depth, n)), scratch(packed_gemm_scratch);
  k.pack_right({.b = b.data(), .stride = n, .k = depth, .n = n, .packed = packed.data()});
  for (auto _ : state) {
    if (weight_gradient) k.pack_right({.b = b.data(), .stride = n, .k = depth, .n = n, .packed = packed.data()});
    k.packed_gemm({.m = m,
                   .n = n,
                   .k = depth,
                   .a = a.data(),
                   .a_stride = weight_gradient ? m : depth,
                   .transpose_a = weight_gradient,
                   .b = packed.data(),
                   .c = c.data(),
                   .c_stride = n,
                   .scratch = scratch.data()});
    benchmark::ClobberMemory();
  }
  state.counters["GFLOP/s"] =
      benchmark::Counter(2e-9 * static_cast<double>(m * n * depth), benchmark::Counter::kIsIterationInvariantRate);
}

const int registered = [] {
  for (const Kernels* k : tables()) {
    const std::string name(k->name);
    benchmark::RegisterBenchmark(("bf16/forward/" + name).c_str(), [k](auto& s) { product(s, *k, false); })
        ->Args({2048, 128, 128})
        ->Args({2048, 256, 128})
        ->Args({2048, 128, 256})
        ->Args({2048, 512, 512})
        ->Args({2048, 2048, 512})
        ->Args({2048, 512, 2048})
        ->Args({64, 512, 512});
    benchmark::RegisterBenchmark(("bf16/weight_gradient/" + name).c_str(), [k](auto& s) { product(s, *k, true); })
        ->Args({128, 128, 2048})
        ->Args({256, 128, 2048})
        ->Args({512, 512, 2048})
        ->Args({2048, 512, 2048});
  }
  return 0;
}();

}  // namespace
}  // namespace tril::kern
