#include "perf/roofline.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <vector>

#include "base/as_size.h"
#include "base/clock.h"
#include "base/team.h"
#include "kern/gemm.h"
#include "kern/gemm_bf16.h"
#include "kern/gemm_int8.h"
#include "tensor/arena.h"
#include "tensor/context.h"

namespace tril::train {
namespace {

constexpr int windows = 4;  // the best one counts: other programs may be using the machine
constexpr double window_seconds = 0.04;

struct Sizes {
  std::int64_t m, n, k;
};
// Which of these is fastest depends on the machine's caches.
constexpr Sizes product_sizes[] = {{256, 512, 512}, {512, 1024, 512}, {1024, 1024, 1024}};

Tensor ones(const Context& c, std::int64_t n) {
  Tensor x = c.empty({n});
  c.kernels().fill(1.0f, x.data<float>(), as_size(n));
  return x;
}

/// A repeatable piece of work, and its amount.
struct Load {
  std::function<void()> run;
  double amount = 0;
};

Load float_product(const Context& c, const Sizes& s) {
  const Tensor a = ones(c, s.m * s.k), b = ones(c, s.k * s.n);
  Tensor y = c.empty({s.m * s.n});
  return {[=, &k = c.kernels()]() mutable {
            k.gemm({.m = as_size(s.m),
                    .n = as_size(s.n),
                    .k = as_size(s.k),
                    .a = a.data<float>(),
                    .a_stride = as_size(s.k),
                    .b = b.data<float>(),
                    .b_stride = as_size(s.n),
                    .c = y.data<float>(),
                    .c_stride = as_size(s.n)});
          },
          2.0 * static_cast<double>(s.m * s.n * s.k)};
}

Load mixed_product(const Context& c, const Sizes& s) {
  const Tensor a = ones(c, s.m * s.k), b = ones(c, s.k * s.n);
  Tensor y = c.empty({s.m * s.n});
  const auto space = [&](std::size_t values) { return c.empty_vector(values, DType::bf16); };
  Tensor packed = space(kern::packed_right_values(as_size(s.k), as_size(s.n))),
         scratch = space(kern::packed_gemm_scratch);
  c.kernels().pack_right({.b = b.data<float>(),
                          .stride = as_size(s.n),
                          .k = as_size(s.k),
                          .n = as_size(s.n),
                          .packed = packed.data<std::uint16_t>()});
  return {[=, &k = c.kernels()]() mutable {
            k.packed_gemm({.m = as_size(s.m),
                           .n = as_size(s.n),
                           .k = as_size(s.k),
                           .a = a.data<float>(),
                           .a_stride = as_size(s.k),
                           .b = packed.data<std::uint16_t>(),
                           .c = y.data<float>(),
                           .c_stride = as_size(s.n),
                           .scratch = scratch.data<std::uint16_t>()});
          },
          2.0 * static_cast<double>(s.m * s.n * s.k)};
}

Load quantized_product(const Context& c, const Sizes& s) {
  Tensor a = ones(c, s.m * s.k);
  // Of alternating signs: without VNNI, large pairs of one sign take longer (kern/int8_pairs-inl.h), but are rare in activations.
  for (std::int64_t i = 1; i < a.count(); i += 2) a.data<float>()[i] = -1;
  const Tensor scales = ones(c, s.n);
  Tensor y = c.empty({s.m * s.n}), sums = c.empty({s.n}, DType::i32);
  const auto space = [&](std::size_t bytes) { return c.empty_vector(bytes, DType::u8); };
  Tensor rows = space(as_size(s.n * s.k)), values = space(kern::int8_packed_bytes(as_size(s.n), as_size(s.k), 8));
  Tensor scratch = space(kern::quantized_gemm_scratch(as_size(s.m), as_size(s.k), 8));
  std::fill_n(rows.data<std::uint8_t>(), as_size(s.n * s.k), std::uint8_t{1});
  c.kernels().pack_quantized({.n = as_size(s.n),
                              .k = as_size(s.k),
                              .rows = rows.data<std::uint8_t>(),
                              .row_bytes = as_size(s.k),
                              .values = values.data<std::uint8_t>(),
                              .sums = sums.data<std::int32_t>()});
  return {[=, &k = c.kernels()]() mutable {
            k.quantized_gemm({.m = as_size(s.m),
                              .b = {.n = as_size(s.n),
                                    .k = as_size(s.k),
                                    .values = values.data<std::uint8_t>(),
                                    .scales = scales.data<float>(),
                                    .sums = sums.data<std::int32_t>()},
                              .a = a.data<float>(),
                              .a_stride = as_size(s.k),
                              .c = y.data<float>(),
                              .c_stride = as_size(s.n),
                              .scratch = scratch.data<std::uint8_t>()});
          },
          2.0 * static_cast<double>(s.m * s.n * s.k)};
}

Load copy(const Context& c, int threads) {
  const std::int64_t n = (std::int64_t{1} << 27) / std::max(threads, 8);  // 64 MiB each, 512 MiB together at most
  const Tensor x = ones(c, n);
  Tensor y = ones(c, n);
  return {[=, &k = c.kernels()]() mutable { k.scale(1.0f, x.data<float>(), y.data<float>(), as_size(n)); },
          2.0 * static_cast<double>(x.bytes())};
}

Load read(const Context& c, int threads) {
  const std::int64_t n = (std::int64_t{1} << 27) / std::max(threads, 4);
  const Tensor x = ones(c, n);
  // Prefetches 16 KiB ahead, as products with weights do: some processors' own prefetching reads at half the rate.
  return {[=, &k = c.kernels()] {
            constexpr std::int64_t part = 1024, ahead = 4 * part, line = 64 / sizeof(float);
            const float* const from = x.data<float>();
            for (std::int64_t i = 0; i < n; i += part) {
              for (std::int64_t j = i + ahead; j < std::min(i + ahead + part, n); j += line)
                __builtin_prefetch(from + j, 0, 2);
              k.sum_squares(from + i, as_size(std::min(part, n - i)));
            }
          },
          static_cast<double>(x.bytes())};
}

/// The highest total rate of all members, each repeating its own load.
double best_rate(Team& team, const kern::Kernels& kernels, const std::function<Load(const Context&)>& make) {
  std::vector<double> rates(as_size(team.size()));
  double best = 0;
  team.run([&](int member) {
    Arena arena;
    const Context c(arena, kernels);
    const Load load = make(c);
    load.run();
    for (int i = 0; i < windows; ++i) {
      team.barrier();
      const double start = seconds_now();
      double done = 0, now = start;
      while (now - start < window_seconds) load.run(), done += load.amount, now = seconds_now();
      rates[as_size(member)] = done / (now - start);
      team.barrier();
      if (member == 0) best = std::max(best, std::accumulate(rates.begin(), rates.end(), 0.0));
    }
  });
  return best;
}

using MakeProduct = Load (*)(const Context&, const Sizes&);

double best_product(Team& team, const kern::Kernels& kernels, MakeProduct make) {
  double best = 0;
  for (const Sizes& s : product_sizes)
    best = std::max(best, best_rate(team, kernels, [&](const Context& c) { return make(c, s); }));
  return best;
}

}  // namespace

double Roofline::product_seconds(const Work& work) const {
  const double mixed_rate = mixed_flops > 0 ? mixed_flops : flops;
  return work.flops / flops + work.mixed_flops / mixed_rate;
}

Roofline::Bound Roofline::bound(const Work& work) const {
  const double products = product_seconds(work), memory = work.bytes / bytes;
  if (products == 0 && memory == 0) return Bound::nothing;
  return products >= memory ? Bound::products : Bound::memory;
}

double Roofline::seconds(const Work& work) const {
  return std::max(product_seconds(work), work.bytes / bytes);
}

Roofline measure_roofline(const kern::Kernels& kernels, int threads, nn::Precision precision) {
  Team team(threads);
  Roofline roof;
  roof.flops = best_product(team, kernels, float_product);
  if (precision == nn::Precision::bf16) roof.mixed_flops = best_product(team, kernels, mixed_product);
  roof.bytes = best_rate(team, kernels, [&](const Context& c) { return copy(c, threads); });
  return roof;
}

double measure_quantized_products(const kern::Kernels& kernels, int threads) {
  Team team(threads);
  return best_product(team, kernels, quantized_product);
}

double measure_read_bandwidth(const kern::Kernels& kernels, int threads) {
  Team team(threads);
  return best_rate(team, kernels, [&](const Context& c) { return read(c, threads); });
}

}  // namespace tril::train
