// The gated delta rule, the selective state space and the short convolution, of a prompt and of one token: heads of 128 by 128
// or 128 by 64, as published models have them.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "base/rng.h"
#include "kern/kernels.h"
#include "kern/recurrence.h"

namespace tril::kern {
namespace {

std::vector<float> values(std::size_t n, std::uint64_t stream) {
  std::vector<float> x(n);
  RandomSequence random(3, stream);
  for (float& value : x) value = static_cast<float>(random.normal());
  return x;
}

void rate(benchmark::State& state, double flops) {
  state.counters["GFLOP/s"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * flops * 1e-9, benchmark::Counter::kIsRate);
}

void delta(benchmark::State& state, const Kernels& kernels, std::size_t tokens) {
  constexpr std::size_t d = 128;
  const auto q = values(tokens * d, 1), k = values(tokens * d, 2), v = values(tokens * d, 3);
  const std::vector<float> decay(tokens, 0.9f), beta(tokens, 0.01f);
  std::vector<float> y(tokens * d), matrix(d * d), scratch(kernels.gated_delta_scratch(d));
  GatedDelta a;
  a.q = q.data(), a.k = k.data(), a.v = v.data();
  a.q_stride = a.k_stride = a.v_stride = d;
  a.decay = decay.data(), a.beta = beta.data();
  a.decay_stride = a.beta_stride = 1;
  a.tokens = tokens, a.d_k = a.d_v = d;
  for (auto _ : state) {
    kernels.gated_delta(a, matrix.data(), y.data(), d, scratch.data());
    benchmark::ClobberMemory();
  }
  rate(state, 6.0 * static_cast<double>(tokens * d * d));
}

void scan(benchmark::State& state, const Kernels& kernels, std::size_t tokens) {
  constexpr std::size_t d_state = 128, d_head = 64;
  const auto x = values(tokens * d_head, 1), b = values(tokens * d_state, 2), c = values(tokens * d_state, 3);
  const std::vector<float> decay(tokens, 0.9f), dt(tokens, 0.01f);
  std::vector<float> y(tokens * d_head), matrix(d_state * d_head), scratch(kernels.state_space_scratch(d_state));
  StateSpace a;
  a.x = x.data(), a.b = b.data(), a.c = c.data();
  a.x_stride = d_head, a.b_stride = a.c_stride = d_state;
  a.decay = decay.data(), a.dt = dt.data(), a.step_stride = 1;
  a.tokens = tokens, a.d_state = d_state, a.d_head = d_head, a.skip = 1;
  for (auto _ : state) {
    kernels.state_space(a, matrix.data(), y.data(), d_head, scratch.data());
    benchmark::ClobberMemory();
  }
  rate(state, 4.0 * static_cast<double>(tokens * d_state * d_head));
}

void convolution(benchmark::State& state, const Kernels& kernels) {
  constexpr std::size_t tokens = 512, width = 256, taps = 4;
  const auto x = values(tokens * width, 1), w = values(taps * width, 2);
  std::vector<float> y(tokens * width);
  ShortConvolution a;
  a.x = x.data(), a.x_stride = width, a.tokens = tokens, a.width = width;
  a.w = w.data(), a.w_stride = width, a.taps = taps;
  for (auto _ : state) {
    kernels.short_convolution(a, y.data(), width);
    benchmark::ClobberMemory();
  }
  rate(state, 2.0 * static_cast<double>(tokens * width * taps));
}

const bool registered = [] {
  for (const Kernels* k : tables()) {
    const auto add = [&](const std::string& name, auto run) {
      benchmark::RegisterBenchmark((name + "/" + std::string(k->name)).c_str(), run)->Unit(benchmark::kMicrosecond);
    };
    for (const std::size_t tokens : {1, 512})
      add("gated_delta/" + std::to_string(tokens) + "/128x128",
          [=](benchmark::State& state) { delta(state, *k, tokens); });
    for (const std::size_t tokens : {1, 512})
      add("state_space/" + std::to_string(tokens) + "/128x64",
          [=](benchmark::State& state) { scan(state, *k, tokens); });
    add("short_convolution/512x256/4", [=](benchmark::State& state) { convolution(state, *k); });
  }
  return true;
}();

}  // namespace
}  // namespace tril::kern
