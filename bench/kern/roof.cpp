// The memory bandwidth of this machine, to compare kernels with: reading, and copying by the C library.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstring>
#include <vector>

namespace {

/// Adds up n words (a multiple of 4) in the processor's vectors, from four places at once, so that loading is the
/// limit and not the chain of additions.
#if defined(__x86_64__)
__attribute__((target_clones("default", "arch=haswell", "arch=skylake-avx512")))
#endif
std::uint32_t
add_up(const std::uint32_t* x, std::size_t n) {
  const std::size_t quarter = n / 4;
  const std::uint32_t *x1 = x + quarter, *x2 = x1 + quarter, *x3 = x2 + quarter;
  std::uint32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  for (std::size_t i = 0; i < quarter; ++i) {
    s0 += x[i];
    s1 += x1[i];
    s2 += x2[i];
    s3 += x3[i];
  }
  return s0 + s1 + s2 + s3;
}

void rate(benchmark::State& state, double bytes) {
  state.counters["GB/s"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * bytes * 1e-9, benchmark::Counter::kIsRate);
}

void read_memory(benchmark::State& state) {
  const auto bytes = static_cast<std::size_t>(state.range(0)) << 10;
  const std::vector<std::uint32_t> x(bytes / 4, 1);
  for (auto _ : state) benchmark::DoNotOptimize(add_up(x.data(), x.size()));
  rate(state, static_cast<double>(bytes));
}

void copy_memory(benchmark::State& state) {
  const auto bytes = static_cast<std::size_t>(state.range(0)) << 10;
  std::vector<std::uint32_t> x(bytes / 4, 1), y(bytes / 4);
  for (auto _ : state) {
    std::memcpy(y.data(), x.data(), bytes);
    benchmark::ClobberMemory();
  }
  rate(state, 2 * static_cast<double>(bytes));
}

// KiB: in the L1, L2 and L3 caches, and in memory.
BENCHMARK(read_memory)->Name("roof/read")->Arg(16)->Arg(256)->Arg(4096)->Arg(262144);
BENCHMARK(copy_memory)->Name("roof/copy")->Arg(16)->Arg(256)->Arg(4096)->Arg(262144);

}  // namespace
