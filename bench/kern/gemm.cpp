// Matrix products at the shapes of training (3,000 tokens) and decoding (32 rows), as GFLOP/s; gemm/roof is a large
// square product, the machine's peak.
#include "kern/gemm.h"

#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "base/rng.h"

namespace tril::kern {
namespace {

struct Shape {
  const char* name;
  std::size_t m, n, k;
  bool transpose_a = false, transpose_b = false;
};

const Shape shapes[] = {
    {"roof", 2048, 2048, 2048},
    {"train/tiny/qkv", 3000, 384, 128},
    {"train/tiny/feed_forward", 3000, 512, 128},
    {"train/tiny/logits", 512, 10000, 128, false, true},
    {"train/tiny/weight_gradient", 128, 512, 3000, true, false},
    {"train/base/qkv", 3000, 1536, 512},
    {"train/base/feed_forward", 3000, 2048, 512},
    {"train/base/logits", 512, 10000, 512, false, true},
    {"train/base/weight_gradient", 512, 2048, 3000, true, false},
    {"decode/tiny/qkv", 32, 384, 128},
    {"decode/base/qkv", 32, 1536, 512},
    {"decode/base/logits", 32, 10000, 512, false, true},
};

std::vector<float> uniform(std::size_t n, std::uint64_t stream) {
  std::vector<float> x(n);
  RandomSequence random(1, stream);
  for (float& v : x) v = static_cast<float>(random.uniform() - 0.5);
  return x;
}

void run(benchmark::State& state, const Shape& s) {
  const auto a = uniform(s.m * s.k, 1), b = uniform(s.k * s.n, 2);
  std::vector<float> c(s.m * s.n);
  for (auto _ : state) {
    gemm({.m = s.m,
          .n = s.n,
          .k = s.k,
          .a = a.data(),
          .a_stride = s.transpose_a ? s.m : s.k,
          .b = b.data(),
          .b_stride = s.transpose_b ? s.k : s.n,
          .c = c.data(),
          .c_stride = s.n,
          .transpose_a = s.transpose_a,
          .transpose_b = s.transpose_b});
    benchmark::ClobberMemory();
  }
  const double flops = 2.0 * static_cast<double>(s.m) * static_cast<double>(s.n) * static_cast<double>(s.k);
  state.counters["GFLOP/s"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * flops * 1e-9, benchmark::Counter::kIsRate);
}

const bool registered = [] {
  for (const Shape& s : shapes)
    benchmark::RegisterBenchmark((std::string("gemm/") + s.name).c_str(),
                                 [s](benchmark::State& state) { run(state, s); });
  return true;
}();

}  // namespace
}  // namespace tril::kern
