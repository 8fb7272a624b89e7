// What the memory of this machine gives at most, to set beside the kernels: reading, and copying as the C library does
// it.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstring>
#include <vector>

namespace {

/// Adds up words in whatever vectors the processor has: one addition for each load, so that loading is the limit.
__attribute__((target_clones("default", "arch=haswell", "arch=skylake-avx512"))) std::uint32_t add_up(
    const std::uint32_t* x, std::size_t n) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += x[i];
  return sum;
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

// KiB: in the first cache, the second, the third, and memory.
BENCHMARK(read_memory)->Name("roof/read")->Arg(16)->Arg(256)->Arg(4096)->Arg(262144);
BENCHMARK(copy_memory)->Name("roof/copy")->Arg(16)->Arg(256)->Arg(4096)->Arg(262144);

}  // namespace
