// Attention forward and backward over one long row, d_model 512, 8 heads: time, and the arena's peak besides the
// inputs, which must grow with T and not with T^2 (bytes_per_token is constant).
//   bench_ops --benchmark_filter=long_attention
#include <benchmark/benchmark.h>

#include <memory>
#include <vector>

#include "ops/ops.h"

namespace tril::ops {
namespace {

void long_attention(benchmark::State& state) {
  constexpr std::int64_t d_model = 512, heads = 8;
  const std::int64_t T = state.range(0);
  const bool causal = state.range(1) != 0;
  Arena arena;
  Context c(arena);
  RandomSequence random(1, 1);
  std::vector<float> values(static_cast<std::size_t>(T * 3 * d_model));
  for (float& v : values) v = static_cast<float>(random.uniform() - 0.5);
  const Tensor qkv = c.upload<float>(values, {T, 3 * d_model}),
               dy = c.upload<float>(std::span(values).first(static_cast<std::size_t>(T * d_model)), {T, d_model});
  const Rows rows = Rows::rectangle(1, T);
  const Spans spans = spans_of(rows, rows);
  const std::size_t before = arena.stats().live_bytes;
  arena.reset_peak();
  Tape tape;
  Grads grads;
  for (auto _ : state) {
    tape.clear(), grads.restart();
    tape.watch(qkv);
    c.set_tape(&tape);
    const Tensor y = attention(
        c, {qkv.columns(0, d_model), qkv.columns(d_model, 2 * d_model), qkv.columns(2 * d_model, 3 * d_model)}, spans,
        {.num_heads = heads, .mask = causal ? Mask::causal() : Mask::full()});
    tape.backward(c, y, dy, grads);
    c.set_tape(nullptr);
  }
  const double pairs = static_cast<double>(T) * static_cast<double>(T) * (causal ? 0.5 : 1.0),
               peak = static_cast<double>(arena.stats().peak_bytes - before);
  state.counters["GFLOP/s"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * 14.0 * pairs * static_cast<double>(d_model) * 1e-9,
                         benchmark::Counter::kIsRate);
  state.counters["peak_MiB"] = peak / (1 << 20);
  state.counters["bytes_per_token"] = peak / static_cast<double>(T);
}

BENCHMARK(long_attention)
    ->Name("ops/long_attention")
    ->ArgNames({"T", "causal"})
    ->ArgsProduct({{512, 1024, 2048, 4096, 8192, 16384}, {0, 1}})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tril::ops
