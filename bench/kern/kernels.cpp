// Every kernel of every table at the sizes of training and decoding, as GB/s (bytes that must be read and written)
// or values/s, with the roofs of roof.cpp and gemm.cpp in the same run. Cases are TABLE/KERNEL/SIZE.
//   bench_kern --benchmark_filter='roof|avx512'
#include <benchmark/benchmark.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/rng.h"
#include "kern/kernels.h"

namespace tril::kern {
namespace {

/// n random floats that start at a cache line, like the arena's.
class Random {
 public:
  Random(std::size_t n, std::uint64_t stream) : memory_(n + 16) {
    RandomSequence random(1, stream);
    for (float& v : memory_) v = static_cast<float>(random.uniform() + random.uniform() + random.uniform() - 1.5) * 2;
  }
  float* data() {
    void* begin = memory_.data();
    std::size_t space = memory_.size() * sizeof(float);
    return static_cast<float*>(std::align(64, sizeof(float), begin, space));
  }

 private:
  std::vector<float> memory_;
};

/// Times body; each call reads or writes `floats` floats and yields `values` results.
void measure(const std::string& name, std::size_t floats, std::size_t values, std::function<void()> body) {
  benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) {
    for (auto _ : state) {
      body();
      benchmark::ClobberMemory();
    }
    const double calls = static_cast<double>(state.iterations());
    state.counters["GB/s"] =
        benchmark::Counter(calls * static_cast<double>(floats) * 4e-9, benchmark::Counter::kIsRate);
    state.counters["Gvalues/s"] =
        benchmark::Counter(calls * static_cast<double>(values) * 1e-9, benchmark::Counter::kIsRate);
  });
}

/// Memory that the cases of a table share: activations [2048, 512] and logits [64, 10000] fit into each vector.
struct Data {
  static constexpr std::size_t size = 2048 * 512, widest = 10000;
  Random x{size, 1}, y{size, 2}, z{size, 3}, u{size, 4}, v{size, 5}, g{widest, 6}, b{widest, 7};
  Random stat{2048, 8}, stat2{2048, 9}, table{10000 * 512, 10};
  std::vector<std::int32_t> ids = std::vector<std::int32_t>(2048);
  std::vector<float> weights = std::vector<float>(2048, 1.0f);

  Data() {
    for (std::size_t i = 0; i < ids.size(); ++i)
      ids[i] = static_cast<std::int32_t>(random_bits({1, 2}, static_cast<std::uint32_t>(i)) % 10000);
  }
};

void register_vectors(const Kernels& k, Data& m) {
  const std::string at = std::string(k.name) + "/";
  float *x = m.x.data(), *y = m.y.data(), *z = m.z.data(), *u = m.u.data(), *v = m.v.data();
  for (const std::size_t n : {std::size_t{32} * 512, Data::size}) {
    const std::string of = "/" + std::to_string(n);
    const Dropout drop{.p = 0.1f, .key = {1, 2}};
    measure(at + "add" + of, 3 * n, n, [=, &k] { k.add(x, y, z, n); });
    measure(at + "axpy" + of, 3 * n, n, [=, &k] { k.axpy(1e-9f, x, y, n); });
    measure(at + "scale" + of, 2 * n, n, [=, &k] { k.scale(1.5f, x, z, n); });
    measure(at + "fill" + of, n, n, [=, &k] { k.fill(1.5f, z, n); });
    measure(at + "sum_squares" + of, n, n, [=, &k] { benchmark::DoNotOptimize(k.sum_squares(x, n)); });
    measure(at + "dropout" + of, 2 * n, n, [=, &k] { k.dropout(drop, x, z, n); });
    measure(at + "add_dropout" + of, 3 * n, n, [=, &k] { k.add_dropout(drop, x, y, z, n); });
    measure(at + "axpy_dropout" + of, 3 * n, n, [=, &k] { k.axpy_dropout(drop, u, z, n); });
    const std::pair<Activation, const char*> activations[] = {{Activation::relu, "relu"},
                                                              {Activation::gelu, "gelu"},
                                                              {Activation::gelu_tanh, "gelu_tanh"},
                                                              {Activation::silu, "silu"}};
    for (const auto& [f, name] : activations) {
      const Activation a = f;
      const std::string tail = std::string("/") + name + of;
      measure(at + "activate" + tail, 2 * n, n, [=, &k] { k.activate(a, x, z, n); });
      measure(at + "activate_backward" + tail, 3 * n, n, [=, &k] { k.activate_backward(a, x, y, z, false, n); });
      measure(at + "gated" + tail, 3 * n, n, [=, &k] { k.gated(a, x, y, z, n); });
      measure(at + "gated_backward" + tail, 5 * n, n, [=, &k] { k.gated_backward(a, x, y, y, u, z, false, n); });
    }
    measure(at + "adam" + of, 7 * n, n, [=, &k] { k.adam(Adam{.lr = 1e-9f}, u, z, v, y, n); });
  }
}

void register_rows(const Kernels& k, Data& m) {
  const std::string at = std::string(k.name) + "/";
  float *x = m.x.data(), *y = m.y.data(), *z = m.z.data(), *g = m.g.data(), *b = m.b.data();
  float *mean = m.stat.data(), *scale = m.stat2.data(), *table = m.table.data();
  const std::int32_t* ids = m.ids.data();
  const std::size_t rows = 2048;
  for (const std::size_t d : {std::size_t{128}, std::size_t{512}}) {
    const std::size_t n = rows * d;
    const std::string of = "/2048x" + std::to_string(d);
    measure(at + "bias_activate/relu" + of, 2 * n, n, [=, &k] { k.bias_activate(Activation::relu, x, b, z, rows, d); });
    measure(at + "column_sums" + of, n, n, [=, &k] { k.column_sums(x, z, rows, d); });
    measure(at + "transpose" + of, 2 * n, n, [=, &k] { k.transpose(x, z, rows, d); });
    measure(at + "copy_rows" + of, 2 * n, n, [=, &k] { k.copy_rows(x, d, z, d, rows, d); });
    measure(at + "layer_norm" + of, 2 * n, n, [=, &k] { k.layer_norm(x, g, b, 1e-5f, z, mean, scale, rows, d); });
    measure(at + "layer_norm_backward" + of, 3 * n, n, [=, &k, w = std::vector<float>(2 * d)]() mutable {
      k.layer_norm_backward(x, g, mean, scale, y, z, false, w.data(), w.data() + d, rows, d);
    });
    measure(at + "rms_norm" + of, 2 * n, n, [=, &k] { k.rms_norm(x, g, 1e-5f, z, scale, rows, d); });
    measure(at + "rms_norm_backward" + of, 3 * n, n, [=, &k, w = std::vector<float>(d)]() mutable {
      k.rms_norm_backward(x, g, scale, y, z, false, w.data(), rows, d);
    });
    measure(at + "gather" + of, 2 * n, n, [=, &k] { k.gather(table, ids, 11.3f, z, rows, d); });
    measure(at + "scatter_add" + of, 3 * n, n, [=, &k] { k.scatter_add(table, ids, 1e-9f, x, -1, rows, d); });
    measure(at + "add_gathered" + of, 3 * n, n, [=, &k] { k.add_gathered(x, table, ids, z, rows, d); });
  }
}

void register_logits(const Kernels& k, Data& m) {
  const std::string at = std::string(k.name) + "/";
  float *x = m.x.data(), *y = m.y.data(), *z = m.z.data(), *losses = m.stat.data();
  const std::int32_t* ids = m.ids.data();
  const float* weights = m.weights.data();
  const std::size_t rows = 64, cols = 10000, n = rows * cols;
  const std::string of = "/64x10000";
  const CrossEntropy c{.targets = ids, .eps = 0.1f};
  measure(at + "log_softmax" + of, 2 * n, n, [=, &k] { k.log_softmax(x, z, rows, cols); });
  measure(at + "log_sum_exp" + of, n, n, [=, &k] { k.log_sum_exp(x, losses, rows, cols); });
  measure(at + "cross_entropy/loss" + of, n, n, [=, &k] { k.cross_entropy(c, x, losses, nullptr, rows, cols); });
  measure(at + "cross_entropy/gradient" + of, 2 * n, n, [=, &k] { k.cross_entropy(c, x, losses, z, rows, cols); });
  measure(at + "distillation" + of, 3 * n, n, [=, &k] { k.distillation(x, y, weights, 2, 1, losses, z, rows, cols); });
  for (const std::size_t best : {1u, 4u, 8u, 16u, 64u})
    measure(
        at + "top_k/" + std::to_string(best) + of, n, n,
        [=, &k, values = std::vector<float>(rows * best), at_place = std::vector<std::int32_t>(rows * best)]() mutable {
          k.top_k(x, rows, cols, best, values.data(), at_place.data());
        });
}

const bool registered = [] {
  static Data data;
  for (const Kernels* k : tables()) {
    register_vectors(*k, data);
    register_rows(*k, data);
    register_logits(*k, data);
  }
  return true;
}();

}  // namespace
}  // namespace tril::kern
