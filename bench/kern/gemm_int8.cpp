// Products with weights of 8 and 4 bits at the shapes of decoding, for every table, as products per second (m n k)
// and as bytes of weights per second: with one weight that stays in the cache, and with so many in turn that each
// comes from memory, like the layers of a step.
//   bench_kern --benchmark_filter='quantized_gemm/8_bits/.*/avx512_vnni'
#include <benchmark/benchmark.h>

#include <fmt/format.h>

#include <vector>

#include "base/rng.h"
#include "kern/gemm_int8.h"
#include "kern/kernels.h"

namespace tril::kern {
namespace {

struct Shape {
  std::size_t n, k;
};
constexpr Shape shapes[] = {{512, 512}, {2048, 512}, {512, 2048}, {32000, 512}, {5632, 1024}, {1024, 2816}};

/// A weight of random numbers in the form that products read.
struct Weight {
  std::vector<std::uint8_t> values, multipliers;
  std::vector<float> scales;
  std::vector<std::int32_t> sums;
  QuantizedRight right;

  Weight(const Kernels& kernels, Shape s, int bits, std::uint64_t seed) {
    RandomSequence random(seed, 1);
    const std::size_t groups = (s.k + int4_group - 1) / int4_group;
    const std::size_t row_bytes = s.k * static_cast<std::size_t>(bits) / 8;
    std::vector<std::uint8_t> rows(s.n * row_bytes), row_multipliers(bits == 4 ? s.n * groups : 0, 9);
    for (std::uint8_t& b : rows) b = static_cast<std::uint8_t>(1 + random.below(255));
    values.resize(int8_packed_bytes(s.n, s.k, bits));
    multipliers.resize(bits == 4 ? int4_multipliers(s.n, s.k) : 0);
    sums.resize(int8_columns(s.n)), scales.assign(int8_columns(s.n), 0.01f);
    kernels.pack_quantized({.n = s.n,
                            .k = s.k,
                            .bits = bits,
                            .rows = rows.data(),
                            .row_bytes = row_bytes,
                            .row_multipliers = row_multipliers.data(),
                            .values = values.data(),
                            .multipliers = multipliers.data(),
                            .sums = sums.data()});
    right.n = s.n, right.k = s.k, right.bits = bits;
    right.values = values.data(), right.multipliers = multipliers.data();
    right.scales = scales.data(), right.sums = sums.data();
  }
};

void product(benchmark::State& state, const Kernels& kernels, Shape s, std::size_t m, int bits, bool from_memory) {
  constexpr std::size_t beyond_caches = std::size_t{160} << 20;
  const std::size_t bytes = s.n * s.k * static_cast<std::size_t>(bits) / 8;
  const std::size_t count = from_memory ? beyond_caches / bytes + 1 : 1;
  std::vector<Weight> weights;
  for (std::size_t i = 0; i < count; ++i) weights.emplace_back(kernels, s, bits, i);
  std::vector<float> a(m * s.k), c(m * s.n), bias(s.n, 0.5f);
  RandomSequence random(3, 3);
  for (float& v : a)
    v = static_cast<float>(random.normal());  // as activations are: AVX2 takes a second step for large pairs
  std::vector<std::uint8_t> scratch(quantized_gemm_scratch(m, s.k, bits));
  std::size_t turn = 0;
  for (auto _ : state) {
    kernels.quantized_gemm({.m = m,
                            .b = weights[turn].right,
                            .a = a.data(),
                            .a_stride = s.k,
                            .c = c.data(),
                            .c_stride = s.n,
                            .bias = bias.data(),
                            .scratch = scratch.data()});
    benchmark::DoNotOptimize(c.data());
    turn = turn + 1 == count ? 0 : turn + 1;
  }
  const auto per_second = [&](double n) {
    return benchmark::Counter(n, benchmark::Counter::kIsIterationInvariantRate);
  };
  state.counters["products/s"] = per_second(static_cast<double>(m * s.n * s.k));
  state.counters["weight_bytes/s"] = per_second(static_cast<double>(bytes));
}

const bool registered = [] {
  for (const int bits : {8, 4})
    for (const Shape& s : shapes)
      for (const std::size_t m : {1, 2, 3, 4, 5, 8, 16, 32, 128})
        for (const bool from_memory : {false, true})
          for (const Kernels* kernels : tables())
            benchmark::RegisterBenchmark(
                fmt::format("quantized_gemm/{}_bits/{}x{}x{}/{}/{}", bits, m, s.n, s.k,
                            from_memory ? "from_memory" : "near", kernels->name)
                    .c_str(),
                [=](benchmark::State& state) { product(state, *kernels, s, m, bits, from_memory); });
  return true;
}();

}  // namespace
}  // namespace tril::kern
