// Attention at the shapes of training, decoding and long texts, for every table, as GFLOP/s of the products that the
// masks leave (2 pairs (d_k + d_v) forward, 2 pairs (3 d_k + 2 d_v) backward); gemm/roof is the machine's peak.
//   bench_kern --benchmark_filter='gemm/roof|attention/.*/avx512'
#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "base/rng.h"
#include "kern/attention.h"
#include "kern/kernels.h"

namespace tril::kern {
namespace {

struct Shape {
  const char* name;
  std::size_t rows;
  int shortest, longest;  ///< queries of a row
  int keys;               ///< 0: as many as queries
  std::size_t heads, d_k;
  MaskKind mask = MaskKind::full;
  int window = 0;
  float p = 0;
};

const Shape ragged[] = {
    {"short_rows/4x32", 512, 4, 24, 0, 4, 32},
    {"short_rows_causal/4x32", 512, 4, 24, 0, 4, 32, MaskKind::causal},
    {"short_rows_dropout/4x32", 512, 4, 24, 0, 4, 32, MaskKind::full, 0, 0.1f},
    {"short_rows/8x64", 128, 4, 24, 0, 8, 64},
    {"beam_cross/4x32", 32, 4, 4, 15, 4, 32},
    {"greedy_cross/4x32", 128, 1, 1, 15, 4, 32},
    {"long/512/8x64", 1, 512, 512, 0, 8, 64},
    {"long_causal/512/8x64", 1, 512, 512, 0, 8, 64, MaskKind::causal},
    {"long_causal/2048/8x64", 1, 2048, 2048, 0, 8, 64, MaskKind::causal},
    {"long_causal/8192/8x64", 1, 8192, 8192, 0, 8, 64, MaskKind::causal},
    {"long_window_256/8192/8x64", 1, 8192, 8192, 0, 8, 64, MaskKind::causal, 256},
};

std::vector<float> uniform(std::size_t n, std::uint64_t stream) {
  std::vector<float> x(n);
  RandomSequence random(1, stream);
  for (float& v : x) v = static_cast<float>(random.uniform() * 2 - 1);
  return x;
}

/// Rows of q, k, v in dense memory, with what both passes write.
struct Batch {
  std::vector<RowSpan> rows;
  std::vector<float> q, k, v, out, lse, d_out, dq, dk, dv, scratch;
  Attention a;
  AttentionGradient g;
  double pairs = 0;  ///< of a query and a key that it sees, over all heads

  Batch(const Kernels& kernels, const Shape& s) {
    std::int32_t q_tokens = 0, k_tokens = 0;
    RandomSequence random(2, 2);
    for (std::size_t r = 0; r < s.rows; ++r) {
      const int q_len =
          s.shortest + static_cast<int>(random.below(static_cast<std::uint64_t>(s.longest - s.shortest + 1)));
      const int k_len = s.keys ? s.keys : q_len;
      rows.push_back({q_tokens, q_len, k_tokens, k_len});
      q_tokens += q_len, k_tokens += k_len;
      for (int i = 0; i < q_len; ++i) {
        const int seen = s.mask == MaskKind::full ? k_len : s.window ? std::min(i + 1, s.window) : i + 1;
        pairs += static_cast<double>(seen) * static_cast<double>(s.heads);
      }
    }
    const std::size_t width = s.heads * s.d_k, nq = static_cast<std::size_t>(q_tokens),
                      nk = static_cast<std::size_t>(k_tokens);
    q = uniform(nq * width, 1), k = uniform(nk * width, 2), v = uniform(nk * width, 3), d_out = uniform(nq * width, 4);
    out.resize(nq * width), dq.resize(nq * width), dk.resize(nk * width), dv.resize(nk * width),
        lse.resize(nq * s.heads);
    scratch.resize(kernels.attention_scratch(s.d_k, s.d_k));
    a.q = q.data(), a.k = k.data(), a.v = v.data();
    a.q_stride = a.k_stride = a.v_stride = width;
    a.rows = rows.data(), a.num_rows = rows.size();
    a.heads = a.kv_heads = s.heads, a.d_k = a.d_v = s.d_k;
    a.scale = 1.0f / std::sqrt(static_cast<float>(s.d_k));
    a.mask = s.mask, a.window = s.window, a.dropout = {s.p, random_key(1, 2)};
    g.out = out.data(), g.d_out = d_out.data(), g.lse = lse.data();
    g.dq = dq.data(), g.dk = dk.data(), g.dv = dv.data();
    g.out_stride = g.d_out_stride = g.dq_stride = g.dk_stride = g.dv_stride = width;
  }
};

void rate(benchmark::State& state, double flops) {
  state.counters["GFLOP/s"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * flops * 1e-9, benchmark::Counter::kIsRate);
}

void forward(benchmark::State& state, const Kernels& kernels, const Shape& s) {
  Batch b(kernels, s);
  for (auto _ : state) {
    kernels.attention(b.a, b.out.data(), b.g.out_stride, nullptr, b.scratch.data());
    benchmark::ClobberMemory();
  }
  rate(state, 4 * b.pairs * static_cast<double>(s.d_k));
}

void backward(benchmark::State& state, const Kernels& kernels, const Shape& s) {
  Batch b(kernels, s);
  kernels.attention(b.a, b.out.data(), b.g.out_stride, b.lse.data(), b.scratch.data());
  for (auto _ : state) {
    kernels.attention_backward(b.a, b.g, b.scratch.data());
    benchmark::ClobberMemory();
  }
  rate(state, 10 * b.pairs * static_cast<double>(s.d_k));
}

/// One decode step: 128 queries, keys in slots in pages of 16.
void cached(benchmark::State& state, const Kernels& kernels, std::size_t length, std::size_t heads, std::size_t d) {
  constexpr std::size_t rows = 128, page = 16;
  const std::size_t pages = (length + page - 1) / page, width = heads * d;
  std::vector<std::int32_t> slots(rows * length), lengths(rows, static_cast<std::int32_t>(length));
  std::vector<const std::int32_t*> of_row;
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t j = 0; j < length; ++j) {  // a row's pages are not adjacent, because many rows fill pages in turn
      slots[r * length + j] = static_cast<std::int32_t>(((j / page) * rows + r) * page + j % page);
    }
    of_row.push_back(slots.data() + r * length);
  }
  const auto q = uniform(rows * width, 1), k = uniform(rows * pages * page * width, 2), v = uniform(k.size(), 3);
  CachedAttention a;
  a.q = q.data(), a.k = k.data(), a.v = v.data();
  a.q_stride = a.k_stride = a.v_stride = width;
  a.slots = of_row.data(), a.lengths = lengths.data(), a.num_rows = rows;
  a.heads = a.kv_heads = heads, a.d_k = a.d_v = d;
  std::vector<float> out(rows * width), scratch(kernels.cached_attention_scratch(a));
  for (auto _ : state) {
    kernels.cached_attention(a, out.data(), width, scratch.data());
    benchmark::ClobberMemory();
  }
  rate(state, 4.0 * static_cast<double>(rows * length * width));
}

/// One decode step of one text in 8 bits, 16 heads of 64 with 4 key heads: layer after layer, so that no cache has the next one's keys.
void cached_text(benchmark::State& state, const Kernels& kernels, std::size_t length) {
  constexpr std::size_t layers = 12, heads = 16, kv_heads = 4, d = 64, width = kv_heads * d;
  std::vector<std::int32_t> slots(length);
  std::iota(slots.begin(), slots.end(), 0);
  const auto lengths = static_cast<std::int32_t>(length);
  const std::int32_t* const of_row = slots.data();
  const auto q = uniform(heads * d, 1);
  const std::vector<std::int8_t> keys(layers * length * width, 3), values(keys.size(), 5);
  const std::vector<float> scales(layers * length * kv_heads, 0.01f);
  CachedAttention a;
  a.q = q.data(), a.q_stride = heads * d, a.k_stride = a.v_stride = width, a.scale_stride = kv_heads;
  a.slots = &of_row, a.lengths = &lengths, a.num_rows = 1, a.scale = 0.125f;
  a.heads = heads, a.kv_heads = kv_heads, a.d_k = a.d_v = d;
  std::vector<float> out(heads * d), scratch(kernels.cached_attention_scratch(a));
  std::size_t layer = 0;
  for (auto _ : state) {
    a.k8 = keys.data() + layer * length * width, a.v8 = values.data() + layer * length * width;
    a.k_scales = a.v_scales = scales.data() + layer * length * kv_heads;
    kernels.cached_attention(a, out.data(), heads * d, scratch.data());
    benchmark::ClobberMemory();
    layer = (layer + 1) % layers;
  }
  rate(state, 4.0 * static_cast<double>(length * heads * d));
}

void linear(benchmark::State& state, const Kernels& kernels, bool causal) {
  constexpr std::size_t heads = 8, d = 64, tokens = 2048, width = heads * d;
  const auto q = uniform(tokens * width, 1), k = uniform(tokens * width, 2), v = uniform(tokens * width, 3);
  std::vector<float> out(tokens * width), scratch(kernels.linear_attention_scratch(d, d));
  const RowSpan row{0, tokens, 0, tokens};
  LinearAttention a;
  a.q = q.data(), a.k = k.data(), a.v = v.data();
  a.q_stride = a.k_stride = a.v_stride = width;
  a.rows = &row, a.num_rows = 1, a.heads = heads, a.d_k = a.d_v = d, a.causal = causal;
  for (auto _ : state) {
    kernels.linear_attention(a, out.data(), width, scratch.data());
    benchmark::ClobberMemory();
  }
  rate(state, 4.0 * static_cast<double>(tokens * width * d));
}

const bool registered = [] {
  for (const Kernels* k : tables()) {
    const auto add = [&](const std::string& name, auto run) {
      benchmark::RegisterBenchmark((name + "/" + std::string(k->name)).c_str(), run)->Unit(benchmark::kMicrosecond);
    };
    for (const Shape& s : ragged) {
      add(std::string("attention/forward/") + s.name, [=, &s](benchmark::State& state) { forward(state, *k, s); });
      add(std::string("attention/backward/") + s.name, [=, &s](benchmark::State& state) { backward(state, *k, s); });
    }
    for (auto [length, heads, d] : {std::array<std::size_t, 3>{20, 4, 32}, {20, 8, 64}, {1000, 8, 64}}) {
      const std::string shape = std::to_string(length) + "/" + std::to_string(heads) + "x" + std::to_string(d);
      add("attention/cached/" + shape,
          [k, length = length, heads = heads, d = d](benchmark::State& state) { cached(state, *k, length, heads, d); });
    }
    for (const std::size_t length : {256, 4096, 32768})
      add("attention/cached_text/" + std::to_string(length) + "/16x64/4",
          [k, length](benchmark::State& state) { cached_text(state, *k, length); });
    for (bool causal : {false, true}) {
      add(causal ? "attention/linear_causal/2048/8x64" : "attention/linear/2048/8x64",
          [=](benchmark::State& state) { linear(state, *k, causal); });
    }
  }
  return true;
}();

}  // namespace
}  // namespace tril::kern
