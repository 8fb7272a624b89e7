// Products with weights in the blocks of GGUF files for every table, as products per second (m n k) and as bytes of weights per
// second: 1 to 32 rows with weights from memory, as in decoding one text or many, and 256 rows, as in a prompt.
//   bench_kern --benchmark_filter='block_gemm/.*/avx2'
#include <benchmark/benchmark.h>

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "base/rng.h"
#include "kern/gemm_int8.h"
#include "kern/kernels.h"

namespace tril::kern {
namespace {

struct NamedFormat {
  std::string_view name;
  BlockFormat format;
};
constexpr NamedFormat formats[] = {
    {"Q4_0", BlockFormat::q4_0},   {"Q8_0", BlockFormat::q8_0},    {"Q4_K", BlockFormat::q4_k},
    {"Q5_K", BlockFormat::q5_k},   {"Q6_K", BlockFormat::q6_k},    {"IQ4_XS", BlockFormat::iq4_xs},
    {"MXFP4", BlockFormat::mxfp4}, {"Q4_1", BlockFormat::q4_1},    {"Q5_0", BlockFormat::q5_0},
    {"Q5_1", BlockFormat::q5_1},   {"IQ4_NL", BlockFormat::iq4_nl}};

void block_gemm(benchmark::State& state, const Kernels& kernels, BlockFormat format, std::size_t m) {
  constexpr std::size_t n = 5632, k = 1024, beyond_caches = std::size_t{160} << 20;
  const std::size_t bytes = block_packed_bytes(n, k, format);
  std::vector<std::vector<std::uint8_t>> weights(m < 256 ? beyond_caches / bytes + 1 : 1);
  RandomSequence random(3, 3);
  for (auto& w : weights) {
    w.resize(bytes);
    for (std::uint8_t& b : w) b = static_cast<std::uint8_t>(random.below(0x3c));  // small numbers as f16 too
    if (format == BlockFormat::mxfp4)  // powers of two near 1: small ones would be slow, as denormal numbers
      for (std::uint8_t& b : w) b = static_cast<std::uint8_t>(0x70 + b % 16);
  }
  std::vector<float> a(m * k), c(m * n);
  for (float& v : a) v = static_cast<float>(random.uniform() * 2 - 1);
  QuantizedRight right{.n = n, .k = k, .format = format};
  std::vector<std::uint8_t> scratch(quantized_gemm_scratch(m, right));
  std::size_t turn = 0;
  for (auto _ : state) {
    right.values = weights[turn].data();
    kernels.quantized_gemm(
        {.m = m, .b = right, .a = a.data(), .a_stride = k, .c = c.data(), .c_stride = n, .scratch = scratch.data()});
    turn = (turn + 1) % weights.size();
  }
  const auto calls = static_cast<double>(state.iterations());
  state.counters["products"] = benchmark::Counter(calls * static_cast<double>(m * n * k), benchmark::Counter::kIsRate);
  state.counters["weights"] =
      benchmark::Counter(calls * static_cast<double>(bytes), benchmark::Counter::kIsRate, benchmark::Counter::kIs1024);
}

const bool registered = [] {
  for (const Kernels* kernels : tables())
    for (const NamedFormat& f : formats)
      for (const std::size_t m : {1, 2, 4, 8, 16, 32, 256})
        benchmark::RegisterBenchmark(
            fmt::format("block_gemm/{}/{}/{}", f.name, m, kernels->name).c_str(),
            [kernels, format = f.format, m](benchmark::State& state) { block_gemm(state, *kernels, format, m); });
  return true;
}();

}  // namespace
}  // namespace tril::kern
