// Each op of a training step, forward and backward, at the sizes of the tiny and the base preset: GFLOP/s for
// products; for the others, GB/s of what must be read and written. ops/roof/... is the machine's peak, measured in
// the same program.
//   bench_ops --benchmark_filter='roof|tiny'
#include <benchmark/benchmark.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "kern/gemm.h"
#include "ops/ops.h"
#include "ops/scale_heads.h"

namespace tril::ops {
namespace {

struct Sizes {
  const char* name;
  std::int64_t N, d_model, d_ff, heads, vocab;
};
const Sizes presets[] = {{"tiny", 3000, 128, 512, 4, 10000}, {"base", 3000, 512, 2048, 8, 10000}};

Tensor uniform(Context& c, Shape shape, std::uint64_t stream) {
  RandomSequence random(1, stream);
  std::vector<float> v(static_cast<std::size_t>(shape.count()));
  for (float& x : v) x = static_cast<float>(random.uniform() - 0.5);
  return c.upload<float>(v, shape);
}

std::vector<std::int32_t> ids_below(std::int64_t n, std::int64_t bound) {
  RandomSequence random(1, 9);
  std::vector<std::int32_t> ids;
  for (std::int64_t i = 0; i < n; ++i)
    ids.push_back(static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(bound))));
  return ids;
}

/// Rows of 4 to 24 tokens, N in total.
Spans short_rows(std::int64_t N) {
  RandomSequence random(1, 8);
  Rows rows;
  while (rows.tokens() < N)
    rows.append(static_cast<std::int32_t>(
        std::min<std::int64_t>(4 + static_cast<std::int64_t>(random.below(21)), N - rows.tokens())));
  return spans_of(rows, rows);
}

void rate(benchmark::State& state, const char* name, double amount) {
  state.counters[name] =
      benchmark::Counter(static_cast<double>(state.iterations()) * amount * 1e-9, benchmark::Counter::kIsRate);
}

/// Forward, and backward with the gradient of every input.
void step(benchmark::State& state, Context& c, const std::vector<Tensor>& inputs,
          const std::function<Tensor()>& forward) {
  Tape tape;
  Grads grads;
  c.set_training(true);
  Tensor dy;
  for (auto _ : state) {
    tape.clear(), grads.restart();
    for (const Tensor& x : inputs) tape.watch(x);
    c.set_tape(&tape);
    const Tensor y = forward();
    if (!dy) dy = uniform(c, y.shape(), 77);
    tape.backward(c, y, dy, grads);
    c.set_tape(nullptr);
  }
}

using Bench = std::function<void(benchmark::State&, Context&, const Sizes&)>;

void product(benchmark::State& state, Context& c, std::int64_t N, std::int64_t in, std::int64_t out,
             const LinearOptions& o) {
  const Tensor x = uniform(c, {N, in}, 1), w = uniform(c, {out, in}, 2), b = uniform(c, {out}, 3);
  Tensor wt = c.empty({in, out});
  c.kernels().transpose(w.data<float>(), wt.data<float>(), static_cast<std::size_t>(out), static_cast<std::size_t>(in));
  step(state, c, {x, w, b}, [&] { return linear(c, x, {w, wt}, b, o); });
  rate(state, "GFLOP/s", 6.0 * static_cast<double>(N) * static_cast<double>(in) * static_cast<double>(out));
}

/// `passes`: how often N * width floats must be read or written, forward and backward.
double traffic(const Sizes& s, std::int64_t width, double passes) {
  return 4.0 * passes * static_cast<double>(s.N) * static_cast<double>(width);
}

struct Case {
  const char* name;
  Bench run;
};

const Case cases[] = {
    {"linear_qkv", [](auto& st, Context& c, const Sizes& s) { product(st, c, s.N, s.d_model, 3 * s.d_model, {}); }},
    {"linear_relu", [](auto& st, Context& c,
                       const Sizes& s) { product(st, c, s.N, s.d_model, s.d_ff, {.activation = Activation::relu}); }},
    {"linear_gelu", [](auto& st, Context& c,
                       const Sizes& s) { product(st, c, s.N, s.d_model, s.d_ff, {.activation = Activation::gelu}); }},
    {"linear_residual_dropout",
     [](auto& st, Context& c, const Sizes& s) {
       product(st, c, s.N, s.d_ff, s.d_model, {.residual = uniform(c, {s.N, s.d_model}, 4), .dropout = 0.1f});
     }},
    {"attention_short_rows",
     [](auto& st, Context& c, const Sizes& s) {
       const Tensor qkv = uniform(c, {s.N, 3 * s.d_model}, 1);
       const Spans spans = short_rows(s.N);
       double pairs = 0;
       for (const auto& r : *spans) pairs += static_cast<double>(r.q_len) * r.k_len;
       const std::int64_t d = s.d_model;
       step(st, c, {qkv}, [&] {
         return attention(c, {qkv.columns(0, d), qkv.columns(d, 2 * d), qkv.columns(2 * d, 3 * d)}, spans,
                          {.num_heads = s.heads});
       });
       rate(st, "GFLOP/s", 14.0 * pairs * static_cast<double>(d));
     }},
    {"layer_norm",
     [](auto& st, Context& c, const Sizes& s) {
       const Tensor x = uniform(c, {s.N, s.d_model}, 1), g = uniform(c, {s.d_model}, 2), b = uniform(c, {s.d_model}, 3);
       step(st, c, {x, g, b}, [&] { return layer_norm(c, x, g, b, 1e-5f); });
       rate(st, "GB/s", traffic(s, s.d_model, 5));
     }},
    {"rms_norm",
     [](auto& st, Context& c, const Sizes& s) {
       const Tensor x = uniform(c, {s.N, s.d_model}, 1), g = uniform(c, {s.d_model}, 2);
       step(st, c, {x, g}, [&] { return rms_norm(c, x, g, 1e-6f); });
       rate(st, "GB/s", traffic(s, s.d_model, 5));
     }},
    {"embedding",
     [](auto& st, Context& c, const Sizes& s) {
       const Tensor table = uniform(c, {s.vocab, s.d_model}, 1), ids = c.upload(ids_below(s.N, s.vocab));
       step(st, c, {table}, [&] { return embedding(c, table, ids, 2, -1); });
       rate(st, "GB/s", traffic(s, s.d_model, 5) + 4.0 * static_cast<double>(table.count()));
     }},
    {"dropout",
     [](auto& st, Context& c, const Sizes& s) {
       const Tensor x = uniform(c, {s.N, s.d_ff}, 1);
       step(st, c, {x}, [&] { return dropout(c, x, 0.1f); });
       rate(st, "GB/s", traffic(s, s.d_ff, 4));
     }},
    {"residual",
     [](auto& st, Context& c, const Sizes& s) {
       const Tensor h = uniform(c, {s.N, s.d_model}, 1), x = uniform(c, {s.N, s.d_model}, 2);
       step(st, c, {h, x}, [&] { return residual(c, h, x, 0.1f); });
       rate(st, "GB/s", traffic(s, s.d_model, 7));
     }},
    {"gated_silu",
     [](auto& st, Context& c, const Sizes& s) {
       const Tensor gate = uniform(c, {s.N, s.d_ff}, 1), up = uniform(c, {s.N, s.d_ff}, 2);
       step(st, c, {gate, up}, [&] { return gated(c, Activation::silu, gate, up); });
       rate(st, "GB/s", traffic(s, s.d_ff, 8));
     }},
    {"scale_heads",
     [](auto& st, Context& c, const Sizes& s) {
       const Tensor x = uniform(c, {s.N, s.d_model}, 1), g = uniform(c, {s.N, s.heads}, 2);
       step(st, c, {x, g}, [&] { return scale_heads(c, x, g); });
       rate(st, "GB/s", traffic(s, s.d_model, 5));
     }},
    {"projected_cross_entropy",
     [](auto& st, Context& c, const Sizes& s) {
       const Tensor x = uniform(c, {s.N, s.d_model}, 1), w = uniform(c, {s.vocab, s.d_model}, 2),
                    targets = c.upload(ids_below(s.N, s.vocab));
       step(st, c, {x, w}, [&] {
         return projected_cross_entropy(c, {x, {w, {}}, {}}, targets, {.label_smoothing = 0.1f});
       });
       rate(st, "GFLOP/s",
            6.0 * static_cast<double>(s.N) * static_cast<double>(s.d_model) * static_cast<double>(s.vocab));
     }},
};

void product_roof(benchmark::State& state) {
  Arena arena;
  Context c(arena);
  const Tensor a = uniform(c, {2048, 2048}, 1), b = uniform(c, {2048, 2048}, 2);
  Tensor y = c.empty({2048, 2048});
  for (auto _ : state)
    kern::gemm({.m = 2048,
                .n = 2048,
                .k = 2048,
                .a = a.data<float>(),
                .a_stride = 2048,
                .b = b.data<float>(),
                .b_stride = 2048,
                .c = y.data<float>(),
                .c_stride = 2048});
  rate(state, "GFLOP/s", 2.0 * 2048 * 2048 * 2048);
}

void memory_roof(benchmark::State& state) {  // bytes read and written, counted like the ops'
  Arena arena;
  Context c(arena);
  const std::int64_t n = state.range(0);
  const Tensor x = uniform(c, {n}, 1);
  Tensor y = c.empty({n});
  for (auto _ : state) {
    c.kernels().scale(1.0f, x.data<float>(), y.data<float>(), static_cast<std::size_t>(n));
    benchmark::ClobberMemory();
  }
  rate(state, "GB/s", 8.0 * static_cast<double>(n));
}

BENCHMARK(product_roof)->Name("ops/roof/product")->Unit(benchmark::kMillisecond);
BENCHMARK(memory_roof)
    ->Name("ops/roof/memory")
    ->Arg(3000 * 128)
    ->Arg(3000 * 512)
    ->Arg(3000 * 2048)
    ->Unit(benchmark::kMicrosecond);

const bool registered = [] {
  for (const Sizes& s : presets)
    for (const Case& k : cases)
      benchmark::RegisterBenchmark((std::string("ops/") + s.name + "/" + k.name).c_str(), [&s, &k](
                                                                                              benchmark::State& state) {
        Arena arena;
        Context c(arena);
        k.run(state, c, s);
      })->Unit(benchmark::kMicrosecond);
  return true;
}();

}  // namespace
}  // namespace tril::ops
