// Products of quantised weights on every table against integers that are rounded and multiplied one by one.
#include "kern/gemm_int8.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "kern/quantize_int4.h"
#include "kern/quantized_top_k.h"
#include "kern/support.h"

namespace tril::kern::gemm_int8_test {
namespace {

class GemmInt8 : public KernelTest {};

// A weight [n, k]: rounded, stored as in files, packed, and its values as integers times scales.
struct Weight {
  std::size_t n, k;
  int bits;
  std::vector<std::uint8_t> rows, row_multipliers, values, multipliers;
  std::vector<float> scales;
  std::vector<std::int32_t> sums;
  std::vector<int> integers;  // [n, k]

  Weight(const Kernels& kernels, std::size_t n_, std::size_t k_, int bits_, std::uint64_t stream)
      : n(n_), k(k_), bits(bits_), scales(int8_columns(n)), sums(int8_columns(n)), integers(n * k) {
    Floats32 w(n * k);
    fill_normal(w, stream, 0.3);
    if (bits == 8) {
      std::vector<std::int8_t> q(n * int8_depth(k));
      kernels.quantize_rows(w, k, n, k, q.data(), scales.data());
      for (std::size_t j = 0; j < n; ++j)
        for (std::size_t i = 0; i < k; ++i) {
          integers[j * k + i] = q[j * int8_depth(k) + i];
          rows.push_back(static_cast<std::uint8_t>(q[j * int8_depth(k) + i]));
        }
    } else {
      const std::size_t groups = (k + int4_group - 1) / int4_group;
      rows.resize(n * ((k + 1) / 2));
      row_multipliers.resize(n * groups);
      quantize_int4(w, n, k, {rows.data(), row_multipliers.data(), scales.data()});
      for (std::size_t j = 0; j < n; ++j)
        for (std::size_t i = 0; i < k; ++i) {
          const int both = rows[j * ((k + 1) / 2) + i / 2], q = (i % 2 ? both >> 4 : both & 15) - 8;
          integers[j * k + i] = q * row_multipliers[j * groups + i / int4_group];
        }
      multipliers.resize(int4_multipliers(n, k));
    }
    values.resize(int8_packed_bytes(n, k, bits));
    kernels.pack_quantized({n, k, bits, rows.data(), bits == 8 ? k : (k + 1) / 2, row_multipliers.data(), values.data(),
                            multipliers.data(), sums.data()});
    error = 0;
    for (std::size_t i = 0; i < n * k; ++i)
      error = std::max(error, std::abs(w[i] - static_cast<double>(scales[i / k]) * integers[i]));
  }
  double error;  // of the worst value

  QuantizedRight right() const {
    return {.n = n,
            .k = k,
            .bits = bits,
            .values = values.data(),
            .multipliers = multipliers.data(),
            .scales = scales.data(),
            .sums = sums.data()};
  }
};

struct Size {
  std::size_t m, n, k;
};

// The largest integers of both signs, including -128 among the weights, in sums of one sign: nothing saturates.
TEST_P(GemmInt8, TheLargestIntegersAreExact) {
  constexpr std::size_t n = 36;
  for (const std::size_t depth : {128, 512, 640})  // 512: the most that is summed before a section ends
    for (const std::size_t m : {1, 2, 3, 4, 5, 33})
      for (const int weight : {-128, 127})
        for (const float sign : {-1.0f, 1.0f}) {
          Weight w(k, n, depth, 8, 1);
          std::fill(w.rows.begin(), w.rows.end(), static_cast<std::uint8_t>(weight));
          std::fill(w.scales.begin(), w.scales.end(), 1.0f);
          k.pack_quantized({n, depth, 8, w.rows.data(), depth, nullptr, w.values.data(), nullptr, w.sums.data()});
          Floats32 a(m * depth), c(m * n);
          std::fill_n(a.data(), m * depth, sign * 127);
          std::vector<std::uint8_t> scratch(quantized_gemm_scratch(m, depth, 8));
          k.quantized_gemm({.m = m,
                            .b = w.right(),
                            .a = a.data(),
                            .a_stride = depth,
                            .c = c.data(),
                            .c_stride = n,
                            .scratch = scratch.data()});
          const float expected = sign * 127 * static_cast<float>(weight) * depth;
          for (std::size_t i = 0; i < m * n; ++i) ASSERT_EQ(c[i], expected) << m << " rows, weights of " << weight;
        }
}

TEST_P(GemmInt8, EqualsItsTwin) {
  for (const auto& [m, n, depth] :
       {Size{1, 1, 1}, Size{1, 17, 5}, Size{3, 1, 7}, Size{15, 16, 64}, Size{16, 32, 65}, Size{17, 33, 31},
        Size{32, 64, 128}, Size{33, 64, 64}, Size{40, 31, 65}, Size{257, 48, 33}, Size{300, 40, 130},
        Size{20, 40, 1030}, Size{2, 100, 512}, Size{8, 33, 100}, Size{5, 3, 0}, Size{0, 3, 2}, Size{3, 0, 2}})
    for (const int bits : {8, 4})
      for (const Activation f : {Activation::none, Activation::relu, Activation::silu})
        for (const bool tail : {false, true}) {
          const std::size_t wider = 3, a_stride = depth + wider, c_stride = n + wider;
          const auto last = [&](std::size_t rows, std::size_t stride) { return rows ? rows * stride - wider : 0; };
          const Weight w(k, n, depth, bits, 9);
          Floats32 a(last(m, a_stride), 1), c(last(m, c_stride), 3), bias(n, 1), residual(last(m, c_stride), 2);
          fill_normal(a, 1), fill_normal(c, 3), fill_normal(bias, 4), fill_normal(residual, 5);
          std::vector<double> expected(c.data(), c.data() + c.size());
          for (std::size_t i = 0; i < m; ++i) {
            float most = 0;
            for (std::size_t p = 0; p < depth; ++p) most = std::max(most, std::abs(a[i * a_stride + p]));
            const float up = most > 0 ? 127.0f / most : 0;
            for (std::size_t j = 0; j < n; ++j) {
              std::int64_t sum = 0;
              for (std::size_t p = 0; p < depth; ++p)
                sum += static_cast<std::int64_t>(std::nearbyint(a[i * a_stride + p] * up)) * w.integers[j * depth + p];
              double y = static_cast<double>(most / 127.0f) * w.scales[j] * static_cast<double>(sum);
              if (tail) y += bias[j];
              if (f == Activation::relu) y = std::max(y, 0.0);
              if (f == Activation::silu) y /= 1 + std::exp(-y);
              expected[i * c_stride + j] = y + (tail ? residual[i * c_stride + j] : 0);
            }
          }
          Guarded<std::uint8_t> scratch(quantized_gemm_scratch(m, depth, bits), 1);
          k.quantized_gemm({.m = m,
                            .b = w.right(),
                            .a = a,
                            .a_stride = a_stride,
                            .c = c,
                            .c_stride = c_stride,
                            .bias = tail ? bias.data() : nullptr,
                            .activation = f,
                            .residual = tail ? residual.data() : nullptr,
                            .scratch = scratch});
          expect_close(c, expected, 2e-6,
                       fmt::format("{}x{}x{} of {} bits, f {}, tail {}", m, n, depth, bits, static_cast<int>(f), tail));
          EXPECT_TRUE(scratch.intact());
          if (HasFatalFailure()) return;
        }
}

TEST_P(GemmInt8, AllTablesAndAnyCompanyGiveTheSameBits) {
  const Weight w(k, 100, 200, 4, 3);
  Floats32 a(37 * 200), plain(37 * 100);
  fill_normal(a, 1);
  const auto run = [&](const Kernels& kernels, std::size_t m, Floats32& to) {
    std::vector<std::uint8_t> scratch(quantized_gemm_scratch(m, 200, 4));
    kernels.quantized_gemm(
        {.m = m, .b = w.right(), .a = a, .a_stride = 200, .c = to, .c_stride = 100, .scratch = scratch.data()});
  };
  run(*table("generic"), 37, plain);
  for (const std::size_t m : {1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 14, 16, 17, 24, 31, 32, 33, 36, 37}) {
    Floats32 c(m * 100);
    run(k, m, c);
    for (std::size_t i = 0; i < c.size(); ++i) ASSERT_EQ(c[i], plain[i]) << m << " rows, " << i;
  }
}

TEST_P(GemmInt8, ARowDoesNotDependOnThoseBesideIt) {
  const std::size_t m = 300, n = 70, depth = 96;
  const Weight w(k, n, depth, 8, 3);
  Floats32 a(m * depth), all(m * n), alone(n);
  fill_normal(a, 1);
  std::vector<std::uint8_t> scratch(quantized_gemm_scratch(m, depth, 8));
  k.quantized_gemm(
      {.m = m, .b = w.right(), .a = a, .a_stride = depth, .c = all, .c_stride = n, .scratch = scratch.data()});
  for (std::size_t i = 0; i < m; i += 7) {
    k.quantized_gemm({.m = 1,
                      .b = w.right(),
                      .a = a + i * depth,
                      .a_stride = depth,
                      .c = alone,
                      .c_stride = n,
                      .scratch = scratch.data()});
    for (std::size_t j = 0; j < n; ++j) ASSERT_EQ(alone[j], all[i * n + j]) << i << ", " << j;
  }
}

TEST_P(GemmInt8, GivesRowsBack) {
  for (const int bits : {8, 4})
    for (const std::size_t depth : {1u, 31u, 64u, 100u, 130u}) {
      const std::size_t n = 50;
      const Weight w(k, n, depth, bits, 6);
      const std::vector<std::int32_t> ids{0, 49, 17, 17, 31, 32};
      Floats32 y(ids.size() * depth, 1);
      k.gather_quantized(w.right(), ids.data(), 2.5f, y, ids.size());
      std::vector<double> expected;
      for (std::int32_t id : ids)
        for (std::size_t p = 0; p < depth; ++p)
          expected.push_back(2.5 * w.scales[static_cast<std::size_t>(id)] *
                             w.integers[static_cast<std::size_t>(id) * depth + p]);
      expect_close(y, expected, 1e-6, fmt::format("{} bits, {}", bits, depth));
    }
}

TEST_P(GemmInt8, SelectsColumns) {
  for (const int bits : {8, 4})
    for (const std::size_t depth : {1u, 64u, 100u}) {
      const Weight w(k, 50, depth, bits, 6);
      for (const std::vector<std::int32_t>& ids :
           {std::vector<std::int32_t>{}, {49}, {0, 49, 17, 17, 31, 32}, std::vector<std::int32_t>(33, 7)}) {
        const std::size_t n = ids.size(), columns = int8_columns(n), m = 3;
        std::vector<std::uint8_t> values(int8_packed_bytes(n, depth, bits), 9);
        std::vector<std::uint8_t> multipliers(int4_multipliers(n, depth), 9);
        Floats32 scales(columns);
        std::vector<std::int32_t> sums(columns, 9);
        k.select_quantized({.from = w.right(),
                            .ids = ids.data(),
                            .n = n,
                            .values = values.data(),
                            .multipliers = multipliers.data(),
                            .scales = scales,
                            .sums = sums.data()});
        const QuantizedRight selected{.n = n,
                                      .k = depth,
                                      .bits = bits,
                                      .values = values.data(),
                                      .multipliers = bits == 4 ? multipliers.data() : nullptr,
                                      .scales = scales,
                                      .sums = sums.data()};
        Floats32 a(m * depth), all(m * 50), some(m * n);
        fill_normal(a, 2);
        std::vector<std::uint8_t> scratch(quantized_gemm_scratch(m, depth, bits));
        QuantizedGemm g{.m = m, .b = w.right(), .a = a, .a_stride = depth, .c = all, .c_stride = 50};
        g.scratch = scratch.data();
        k.quantized_gemm(g);
        g.b = selected, g.c = some, g.c_stride = n;
        k.quantized_gemm(g);
        for (std::size_t i = 0; i < m; ++i)
          for (std::size_t j = 0; j < n; ++j)
            ASSERT_EQ(some[i * n + j], all[i * 50 + static_cast<std::size_t>(ids[j])]) << bits << " bits, " << depth;
        EXPECT_TRUE(scales.intact() && some.intact());
      }
    }
}

TEST_P(GemmInt8, RoundingErrorsAreThoseOfTheirBits) {
  for (const std::size_t depth : {1u, 33u, 256u}) {
    const Weight eight(k, 40, depth, 8, 2), four(k, 40, depth, 4, 2);
    const float largest = *std::max_element(eight.scales.begin(), eight.scales.end()) * 127;
    EXPECT_LE(eight.error, 0.5001 * largest / 127);
    EXPECT_LE(four.error, 0.15 * largest);
    EXPECT_GT(four.error + 1e-9, depth > 1 ? eight.error : 0);
  }
}

TEST_P(GemmInt8, WhatIsNotANumberShowsAndZerosAreZeros) {
  const std::size_t depth = 70;
  const Weight w(k, 5, depth, 8, 2);
  for (const float x : {NAN, INFINITY, -INFINITY, 0.0f, 1e-38f, 3e38f})
    for (const std::size_t at : {0u, 33u, 69u}) {
      Floats32 a(2 * depth), c(10);
      for (std::size_t i = 0; i < 2 * depth; ++i) a[i] = i < depth ? 0 : 1;
      a[at] = x;
      std::vector<std::uint8_t> scratch(quantized_gemm_scratch(2, depth, 8));
      k.quantized_gemm(
          {.m = 2, .b = w.right(), .a = a, .a_stride = depth, .c = c, .c_stride = 5, .scratch = scratch.data()});
      for (std::size_t j = 0; j < 5; ++j) {
        if (!std::isfinite(x))
          EXPECT_TRUE(std::isnan(c[j])) << x;
        else
          EXPECT_NEAR(c[j] / 3e38, static_cast<double>(x) / 3e38 * w.scales[j] * w.integers[j * depth + at], 1e-6);
        EXPECT_TRUE(std::isfinite(c[5 + j]));
      }
    }
}

TEST_P(GemmInt8, TheBestOfEachRowAreThoseOfTheProduct) {
  for (const auto& [m, n, depth] : {Size{1, 1, 5}, Size{3, 31, 64}, Size{33, 32, 20}, Size{40, 33, 65},
                                    Size{300, 70, 64}, Size{5, 1000, 30}, Size{32, 500, 128}, Size{2, 4099, 64}})
    for (const std::size_t best : {1u, 2u, 8u})
      for (const int bits : {8, 4})
        for (const float spread : {1.0f, 200.0f}) {
          const Weight w(k, n, depth, bits, 9);
          Floats32 a(m * depth), bias(n, 1), c(m * n), values(m * best, 1), log_sums(m, 1);
          Guarded<std::int32_t> ids(m * best, 2);
          fill_normal(a, 1, static_cast<double>(spread)), fill_normal(bias, 4);
          if (n > 20) bias[7] = bias[8] = 1e4f;  // equal only where all else is, but the best of all
          std::vector<std::vector<std::int32_t>> forbidden(m);
          std::vector<const std::int32_t*> lists;
          std::vector<std::int32_t> counts;
          for (std::size_t i = 0; i < m; ++i) {
            if (n > 20 && i % 3 == 0) forbidden[i] = {7, static_cast<std::int32_t>(i % n)};
            if (n == 1 && i == 0) forbidden[i] = {0};
            lists.push_back(forbidden[i].data());
            counts.push_back(static_cast<std::int32_t>(forbidden[i].size()));
          }
          std::vector<std::uint8_t> scratch(quantized_gemm_scratch(m, depth, bits));
          k.quantized_gemm({.m = m,
                            .b = w.right(),
                            .a = a,
                            .a_stride = depth,
                            .c = c,
                            .c_stride = n,
                            .bias = bias,
                            .scratch = scratch.data()});
          for (const bool sums : {false, true}) {
            k.quantized_top_k({.m = m,
                               .b = w.right(),
                               .a = a,
                               .a_stride = depth,
                               .bias = bias,
                               .k = best,
                               .forbidden = lists.data(),
                               .forbidden_counts = counts.data(),
                               .values = values,
                               .indices = ids,
                               .log_sums = sums ? log_sums.data() : nullptr,
                               .scratch = scratch.data()});
            for (std::size_t i = 0; i < m; ++i) {
              std::vector<std::pair<float, std::int32_t>> order;
              double most = -INFINITY, sum = 0;
              for (std::size_t j = 0; j < n; ++j) most = std::max<double>(most, c[i * n + j]);
              for (std::size_t j = 0; j < n; ++j) {
                sum += std::exp(c[i * n + j] - most);
                const auto id = static_cast<std::int32_t>(j);
                if (std::find(forbidden[i].begin(), forbidden[i].end(), id) == forbidden[i].end())
                  order.push_back({-c[i * n + j], id});
              }
              std::sort(order.begin(), order.end());
              for (std::size_t j = 0; j < best; ++j) {
                ASSERT_EQ(ids[i * best + j], j < order.size() ? order[j].second : -1)
                    << fmt::format("{}x{}x{}: row {}, place {}", m, n, depth, i, j);
                const float value = values[i * best + j];
                if (j < order.size()) {
                  ASSERT_NEAR(value, -order[j].first, 1e-5 * (1 + std::abs(value)));
                } else {
                  ASSERT_EQ(value, -INFINITY);
                }
              }
              if (sums) {
                ASSERT_NEAR(log_sums[i], most + std::log(sum), 2e-6 * (1 + std::abs(most)));
              }
            }
            EXPECT_TRUE(ids.intact() && values.intact() && log_sums.intact());
          }
        }
}

// Results of 8 and 4 bits as x86 computes them, to the bit, on every processor. Operands are of integers, so no function
// of a mathematical library has a part in them.
TEST_P(GemmInt8, BitsAreTheSameOnEveryProcessor) {
  constexpr std::size_t m = 37, n = 45, depth = 200;
  std::uint32_t state = 1;
  const auto next = [&] { return state = state * 1664525 + 1013904223; };
  const auto hash = [&](int bits) {
    Weight w(k, n, depth, bits, 7);
    for (std::uint8_t& byte : w.rows) byte = static_cast<std::uint8_t>(next() >> 24);
    for (std::uint8_t& multiplier : w.row_multipliers) multiplier = static_cast<std::uint8_t>(next() >> 28);
    for (std::size_t j = 0; j < w.scales.size(); ++j) w.scales[j] = static_cast<float>(next() >> 16) / 65536;
    const std::size_t row_bytes = bits == 8 ? depth : depth / 2;
    k.pack_quantized({n, depth, bits, w.rows.data(), row_bytes, w.row_multipliers.data(), w.values.data(),
                      w.multipliers.data(), w.sums.data()});
    Floats32 a(m * depth), c(m * n);
    for (std::size_t i = 0; i < m * depth; ++i)
      a[i] = static_cast<float>(static_cast<std::int32_t>(next()) >> 12) / 1024;
    std::vector<std::uint8_t> scratch(quantized_gemm_scratch(m, depth, bits));
    k.quantized_gemm(
        {.m = m, .b = w.right(), .a = a, .a_stride = depth, .c = c, .c_stride = n, .scratch = scratch.data()});
    std::uint64_t value = 14695981039346656037u;  // FNV-1a
    for (std::size_t i = 0; i < m * n; ++i) {
      std::uint32_t lane;
      std::memcpy(&lane, &c[i], sizeof lane);
      value = (value ^ lane) * 1099511628211u;
    }
    return value;
  };
  EXPECT_EQ(hash(8), 1570452649041448921u);
  EXPECT_EQ(hash(4), 6111118088255093178u);
}

TEST_P(GemmInt8, RowsThatAreNotNumbersSaySo) {
  const Weight w(k, 40, 64, 8, 2);
  Floats32 a(3 * 64), values(6), log_sums(3);
  fill_normal(a, 3);
  a[64 + 5] = NAN;
  std::vector<std::int32_t> ids(6);
  std::vector<std::uint8_t> scratch(quantized_gemm_scratch(3, 64, 8));
  k.quantized_top_k({.m = 3,
                     .b = w.right(),
                     .a = a,
                     .a_stride = 64,
                     .k = 2,
                     .values = values,
                     .indices = ids.data(),
                     .log_sums = log_sums,
                     .scratch = scratch.data()});
  for (std::size_t i : {0u, 2u}) EXPECT_TRUE(std::isfinite(log_sums[i]) && std::isfinite(values[2 * i]));
  EXPECT_TRUE(std::isnan(log_sums[1]));
  EXPECT_TRUE(std::isnan(values[2]));
}

// As for 8 bits: the row's results are then not finite, so the fault is visible.
TEST(QuantizeInt4, ARowThatIsNotFiniteHasNoScale) {
  for (const float odd : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    std::vector<float> w(3 * 37, 0.5f);
    w[37 + 36] = -odd;
    std::vector<std::uint8_t> rows(3 * 19), multipliers(3 * 2);
    std::vector<float> scales(3);
    quantize_int4(w.data(), 3, 37, {rows.data(), multipliers.data(), scales.data()});
    EXPECT_TRUE(std::isnan(scales[1]));
    for (std::size_t j : {0u, 2u}) EXPECT_EQ(scales[j], 0.5f / (7.0f * 15));
  }
}

INSTANTIATE_TEST_SUITE_P(Tables, GemmInt8, every_table(), table_name);

}  // namespace
}  // namespace tril::kern::gemm_int8_test
