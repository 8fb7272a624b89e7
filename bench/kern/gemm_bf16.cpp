// Products of bfloat16: at the shapes of training, including the packing of A, as GFLOP/s of one core, to compare with gemm.cpp's
// float32; and a few rows with a weight of a language model, packed or compact, as a decode step has them, also as bytes of the packed
// weight per second: a weight that stays in the cache, and many in turn, so that each comes from memory.
#include <benchmark/benchmark.h>

#include <random>
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

/// A weight, packed or compact.
struct StoredWeight {
  std::vector<std::uint16_t> packed;
  std::vector<std::uint8_t> tiles, tables, rest;

  StoredWeight(const Kernels& k, const std::vector<float>& b, std::size_t depth, std::size_t n, bool compact) {
    if (!compact) {
      packed.resize(packed_right_values(depth, n));
      k.pack_right({.b = b.data(), .stride = depth, .k = depth, .n = n, .transposed = true, .packed = packed.data()});
      return;
    }
    const std::size_t count = compact_tiles(depth, n);
    tiles.resize(count * compact_tile_bytes), tables.resize(count * compact_table_bytes),
        rest.resize(count * compact_rest_bytes);
    k.pack_compact({.b = b.data(),
                    .stride = depth,
                    .k = depth,
                    .n = n,
                    .tiles = tiles.data(),
                    .tables = tables.data(),
                    .rest = rest.data()});
  }
  void give(PackedGemm& g) const {
    if (packed.empty())
      g.compact = {tiles.data(), tables.data(), rest.data()};
    else
      g.b = packed.data();
  }
};

void decode(benchmark::State& state, const Kernels& k, bool from_memory, bool compact) {
  const auto m = static_cast<std::size_t>(state.range(0));
  const std::size_t n = from_memory ? 2816 : 128, depth = 1024, values = packed_right_values(depth, n);
  const std::size_t count = from_memory ? (std::size_t{160} << 20) / (2 * values) + 1 : 1;
  std::vector<float> a(m * depth, 0.5f), b(depth * n), c(m * n);
  std::mt19937 random(1);
  std::normal_distribution<float> normal(0, 0.02f);
  for (float& x : b) x = normal(random);
  const std::vector<StoredWeight> weights(count, StoredWeight(k, b, depth, n, compact));
  std::vector<std::uint16_t> scratch(packed_gemm_scratch);
  std::size_t turn = 0;
  for (auto _ : state) {
    PackedGemm g{.m = m,
                 .n = n,
                 .k = depth,
                 .a = a.data(),
                 .a_stride = depth,
                 .c = c.data(),
                 .c_stride = n,
                 .scratch = scratch.data()};
    weights[turn].give(g);
    k.packed_gemm(g);
    benchmark::ClobberMemory();
    turn = turn + 1 == count ? 0 : turn + 1;
  }
  const auto rate = [](double x) { return benchmark::Counter(x, benchmark::Counter::kIsIterationInvariantRate); };
  state.counters["GFLOP/s"] = rate(2e-9 * static_cast<double>(m * n * depth));
  state.counters["weight_bytes/s"] = rate(2.0 * static_cast<double>(values));
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
    for (const bool from_memory : {false, true})
      for (const bool compact : {false, true}) {
        const std::string of =
            std::string("bf16/") + (compact ? "compact/" : "decode/") + (from_memory ? "from_memory/" : "near/") + name;
        auto* const few = benchmark::RegisterBenchmark(
            of.c_str(), [k, from_memory, compact](auto& s) { decode(s, *k, from_memory, compact); });
        for (const int m : {1, 2, 3, 4, 8, 16, 32, 48, 64, 256}) few->Arg(m);
      }
  }
  return 0;
}();

}  // namespace
}  // namespace tril::kern
