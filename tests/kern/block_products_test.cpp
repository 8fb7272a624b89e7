// Products of weights in the blocks of files on every table, against the blocks' values (gguf_blocks.h, which has tests of its
// own) times activations that are rounded here, in double.
#include "kern/block_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/half.h"
#include "kern/gemm_int8.h"
#include "kern/gguf_blocks.h"
#include "kern/quantized_top_k.h"
#include "kern/support.h"

namespace tril::kern::block_products_test {
namespace {

class BlockProducts : public KernelTest {};

struct Kind {
  BlockFormat format;
  GgufType type;
  std::vector<std::size_t> halves;  // bytes of a block at which an f16 begins
};
const std::vector<Kind> kKinds{
    {BlockFormat::q4_0, GgufType::q4_0, {0}},    {BlockFormat::q8_0, GgufType::q8_0, {0}},
    {BlockFormat::q4_k, GgufType::q4_k, {0, 2}}, {BlockFormat::q5_k, GgufType::q5_k, {0, 2}},
    {BlockFormat::q6_k, GgufType::q6_k, {208}},  {BlockFormat::iq4_xs, GgufType::iq4_xs, {0}},
    {BlockFormat::mxfp4, GgufType::mxfp4, {}},   {BlockFormat::q4_1, GgufType::q4_1, {0, 2}},
    {BlockFormat::q5_0, GgufType::q5_0, {0}},    {BlockFormat::q5_1, GgufType::q5_1, {0, 2}},
    {BlockFormat::iq4_nl, GgufType::iq4_nl, {0}}};

void put_half(std::uint8_t* at, float x) {
  const std::uint16_t h = f32_to_f16(x);
  at[0] = static_cast<std::uint8_t>(h), at[1] = static_cast<std::uint8_t>(h >> 8);
}

// A weight [n, k] of random blocks as in a file, at an odd address, packed, and its values.
struct Weight {
  const Kind& kind;
  std::size_t n, k;
  Guarded<std::uint8_t> file, packed;
  std::vector<float> values;
  bool finite = false;

  Weight(const Kernels& kernels, const Kind& kind_, std::size_t n_, std::size_t k_, int fill = -1)
      : kind(kind_),
        n(n_),
        k(k_),
        file(n * block_row_bytes(k, kind.format), 1),
        packed(block_packed_bytes(n, k, kind.format), 0),
        values(n * k) {
    RandomSequence random(11, n * 1000 + k);
    for (std::size_t i = 0; i < file.size(); ++i)
      file[i] = fill < 0 ? static_cast<std::uint8_t>(random.bits()) : static_cast<std::uint8_t>(fill);
    const std::size_t bytes = size_of(kind.format).bytes;
    for (std::size_t at = 0; at < file.size(); at += bytes) {
      for (const std::size_t half : kind.halves)
        put_half(file + at + half, static_cast<float>(random.uniform()) - 0.3f);
      if (kind.format == BlockFormat::mxfp4) file[at] = static_cast<std::uint8_t>(at % 7 == 0 ? at % 3 : 120 + at % 9);
    }
    pack(kernels);
    dequantize_blocks(kind.type, reinterpret_cast<const std::byte*>(file.data()), n * k, values.data());
  }

  void pack(const Kernels& kernels) {
    const std::size_t row = block_row_bytes(k, kind.format);
    finite = true;
    for (std::size_t j = 0; j < n; j += 32) {
      PackBlocks p{.format = kind.format, .k = k, .panel = packed + j * row};
      for (std::size_t i = 0; i < std::min<std::size_t>(32, n - j); ++i) p.rows[i] = file + (j + i) * row;
      finite &= kernels.pack_blocks(p);
    }
  }
  QuantizedRight right() const { return {.n = n, .k = k, .format = kind.format, .values = packed.data()}; }
};

// Activations rounded to 8 bits in blocks of 256.
std::vector<double> rounded(const Floats32& a, std::size_t m, std::size_t k, std::size_t stride) {
  std::vector<double> x(m * k);
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t begin = 0; begin < k; begin += 256) {
      const std::size_t end = std::min(k, begin + 256);
      float most = 0;
      for (std::size_t p = begin; p < end; ++p) most = std::max(most, std::abs(a[i * stride + p]));
      const float up = most > 0 ? 127.0f / most : 0;
      for (std::size_t p = begin; p < end; ++p)
        x[i * k + p] = std::nearbyint(a[i * stride + p] * up) * static_cast<double>(most / 127.0f);
    }
  return x;
}

struct Size {
  std::size_t m, n, blocks;
};

TEST_P(BlockProducts, EqualTheirTwin) {
  for (const Kind& kind : kKinds)
    for (const auto& [m, n, blocks] : {Size{1, 1, 1}, Size{2, 33, 3}, Size{3, 64, 9}, Size{4, 31, 2}, Size{5, 40, 1},
                                       Size{7, 32, 5}, Size{13, 65, 2}, Size{16, 32, 1}, Size{33, 64, 9},
                                       Size{258, 35, 1}, Size{0, 32, 1}, Size{3, 0, 1}, Size{2, 3, 0}})
      for (const bool tail : {false, true}) {
        const std::size_t k_ = blocks * size_of(kind.format).values, wider = 3, a_stride = k_ + wider,
                          c_stride = n + wider;
        const auto last = [&](std::size_t rows, std::size_t stride) { return rows ? rows * stride - wider : 0; };
        const Weight w(k, kind, n, k_);
        ASSERT_TRUE(w.finite && w.packed.intact());
        Floats32 a(last(m, a_stride), 1), c(last(m, c_stride), 3), bias(n, 1), residual(last(m, c_stride), 2);
        fill_normal(a, 1), fill_normal(c, 3), fill_normal(bias, 4), fill_normal(residual, 5);
        const std::vector<double> x = rounded(a, m, k_, a_stride);
        std::vector<double> expected(c.data(), c.data() + c.size()), sizes(m * n);
        for (std::size_t i = 0; i < m; ++i)
          for (std::size_t j = 0; j < n; ++j) {
            double y = 0;
            for (std::size_t p = 0; p < k_; ++p) {
              const double term = x[i * k_ + p] * static_cast<double>(w.values[j * k_ + p]);
              y += term, sizes[i * n + j] += std::abs(term);
            }
            if (tail)
              y = std::max(y + static_cast<double>(bias[j]), 0.0) + static_cast<double>(residual[i * c_stride + j]);
            expected[i * c_stride + j] = y;
          }
        Guarded<std::uint8_t> scratch(quantized_gemm_scratch(m, w.right()), 1);
        k.quantized_gemm({.m = m,
                          .b = w.right(),
                          .a = a,
                          .a_stride = a_stride,
                          .c = c,
                          .c_stride = c_stride,
                          .bias = tail ? bias.data() : nullptr,
                          .activation = tail ? Activation::relu : Activation::none,
                          .residual = tail ? residual.data() : nullptr,
                          .scratch = scratch});
        const std::string what = fmt::format("{} {}x{}x{}", name_of(kind.type), m, n, k_);
        EXPECT_TRUE(c.intact() && scratch.intact()) << what;
        // A block's sum of integers is exact, then rounded a few times. With minimums it is a difference of two numbers that
        // are larger than the terms: those of Q4_K and Q5_K are at most 63 * 63 times the activations.
        for (std::size_t i = 0; i < m; ++i)
          for (std::size_t j = 0; j < n; ++j) {
            const double size = sizes[i * n + j] + 64 + 1e4 * (kind.halves.size() > 1);
            ASSERT_NEAR(c[i * c_stride + j], expected[i * c_stride + j], 1e-6 * size)
                << what << " at " << i << ", " << j;
          }
      }
}

// The largest numbers of every format with activations of one sign: nothing saturates or overflows.
TEST_P(BlockProducts, TheLargestNumbersAreExact) {
  constexpr std::size_t depth = 512, n = 32;
  for (const Kind& kind : kKinds)
    for (const int fill : {0x00, 0xff, 0x80, 0x7f})
      for (const std::size_t m : {1, 4, 9}) {
        const Weight w(k, kind, n, depth, fill);
        Floats32 a(m * depth), c(m * n);
        for (std::size_t i = 0; i < m * depth; ++i) a[i] = i / depth % 2 ? -127 : 127;
        std::vector<std::uint8_t> scratch(quantized_gemm_scratch(m, w.right()));
        k.quantized_gemm(
            {.m = m, .b = w.right(), .a = a, .a_stride = depth, .c = c, .c_stride = n, .scratch = scratch.data()});
        for (std::size_t i = 0; i < m; ++i)
          for (std::size_t j = 0; j < n; ++j) {
            double sum = 0, size = 0;
            for (std::size_t p = 0; p < depth; ++p)
              sum += static_cast<double>(w.values[j * depth + p]) * (i % 2 ? -127 : 127),
                  size += std::abs(static_cast<double>(w.values[j * depth + p])) * 127;
            // 1e6: the minimums of Q4_K and Q5_K.
            ASSERT_NEAR(c[i * n + j], sum, 1e-6 * (size + (kind.halves.size() > 1 ? 1e7 : 1)))
                << name_of(kind.type) << " of bytes " << fill << ", " << m << " rows";
          }
      }
}

TEST_P(BlockProducts, ARowDoesNotDependOnTheOthers) {
  constexpr std::size_t m = 41, n = 70, depth = 768;
  for (const Kind& kind : kKinds) {
    const Weight w(k, kind, n, depth);
    Floats32 a(m * depth), all(m * n), one(n);
    fill_normal(a, 1);
    std::vector<std::uint8_t> scratch(quantized_gemm_scratch(m, w.right()));
    k.quantized_gemm(
        {.m = m, .b = w.right(), .a = a, .a_stride = depth, .c = all, .c_stride = n, .scratch = scratch.data()});
    for (std::size_t i = 0; i < m; ++i) {
      k.quantized_gemm({.m = 1,
                        .b = w.right(),
                        .a = a + i * depth,
                        .a_stride = depth,
                        .c = one,
                        .c_stride = n,
                        .scratch = scratch.data()});
      ASSERT_EQ(std::memcmp(one, all + i * n, n * sizeof(float)), 0) << name_of(kind.type) << " row " << i;
    }
    // The borders between ways to multiply lie below ten rows.
    for (std::size_t few = 2; few < 10; ++few) {
      Floats32 some(few * n);
      k.quantized_gemm(
          {.m = few, .b = w.right(), .a = a, .a_stride = depth, .c = some, .c_stride = n, .scratch = scratch.data()});
      ASSERT_EQ(std::memcmp(some, all, few * n * sizeof(float)), 0) << name_of(kind.type) << ": " << few << " rows";
    }
    // Columns from a panel on.
    k.quantized_gemm({.m = 1,
                      .b = w.right().columns(32, n - 32),
                      .a = a,
                      .a_stride = depth,
                      .c = one,
                      .c_stride = n - 32,
                      .scratch = scratch.data()});
    ASSERT_EQ(std::memcmp(one, all + 32, (n - 32) * sizeof(float)), 0) << name_of(kind.type);
  }
}

TEST_P(BlockProducts, RowsAreGathered) {
  for (const Kind& kind : kKinds) {
    const std::size_t n = 75, depth = 3 * size_of(kind.format).values;
    const Weight w(k, kind, n, depth);
    const std::vector<std::int32_t> ids{0, 74, 15, 16, 31, 32, 47, 74};
    Floats32 y(ids.size() * depth, 1);
    k.gather_quantized(w.right(), ids.data(), 2.0f, y, ids.size());
    EXPECT_TRUE(y.intact());
    for (std::size_t i = 0; i < ids.size(); ++i)
      for (std::size_t p = 0; p < depth; ++p) {
        const float expected = 2 * w.values[static_cast<std::size_t>(ids[i]) * depth + p];
        // Q4_K and Q5_K: scale * value and minimum may be rounded together; both are below 63 * 63.
        ASSERT_NEAR(y[i * depth + p], expected, kind.halves.size() > 1 ? 1e-3 : 0) << name_of(kind.type);
      }
  }
}

TEST_P(BlockProducts, TheBestColumnsAreThoseOfTheProduct) {
  constexpr std::size_t m = 5, n = 333, best = 4;
  for (const Kind& kind : kKinds) {
    const std::size_t depth = 256;
    const Weight w(k, kind, n, depth);
    Floats32 a(m * depth), bias(n), c(m * n), values(m * best), log_sums(m);
    Guarded<std::int32_t> ids(m * best);
    fill_normal(a, 1, 0.01), fill_normal(bias, 4);
    std::vector<std::uint8_t> scratch(quantized_gemm_scratch(m, w.right()));
    k.quantized_gemm({.m = m,
                      .b = w.right(),
                      .a = a,
                      .a_stride = depth,
                      .c = c,
                      .c_stride = n,
                      .bias = bias,
                      .scratch = scratch.data()});
    k.quantized_top_k({.m = m,
                       .b = w.right(),
                       .a = a,
                       .a_stride = depth,
                       .bias = bias,
                       .k = best,
                       .values = values,
                       .indices = ids,
                       .log_sums = log_sums,
                       .scratch = scratch.data()});
    for (std::size_t i = 0; i < m; ++i) {
      std::vector<std::pair<float, std::int32_t>> order;
      double most = -INFINITY, sum = 0;
      for (std::size_t j = 0; j < n; ++j) {
        order.emplace_back(-c[i * n + j], static_cast<std::int32_t>(j));
        most = std::max<double>(most, c[i * n + j]);
      }
      for (std::size_t j = 0; j < n; ++j) sum += std::exp(c[i * n + j] - most);
      std::sort(order.begin(), order.end());
      for (std::size_t j = 0; j < best; ++j) {
        EXPECT_EQ(ids[i * best + j], order[j].second) << name_of(kind.type);
        EXPECT_EQ(values[i * best + j], -order[j].first) << name_of(kind.type);
      }
      EXPECT_NEAR(log_sums[i], most + std::log(sum), 2e-6 * (1 + std::abs(most))) << name_of(kind.type);
    }
  }
}

TEST_P(BlockProducts, WhatIsNotFiniteIsSeen) {
  constexpr std::size_t n = 40, depth = 512;
  for (const Kind& kind : kKinds) {
    Weight w(k, kind, n, depth);
    Floats32 a(2 * depth), c(2 * n);
    fill_normal(a, 1);
    a[300] = INFINITY;
    std::vector<std::uint8_t> scratch(quantized_gemm_scratch(2, w.right()));
    k.quantized_gemm(
        {.m = 2, .b = w.right(), .a = a, .a_stride = depth, .c = c, .c_stride = n, .scratch = scratch.data()});
    for (std::size_t j = 0; j < n; ++j)
      EXPECT_TRUE(!std::isfinite(c[j]) && std::isfinite(c[n + j])) << name_of(kind.type);

    const std::size_t last_block = w.file.size() - size_of(kind.format).bytes;
    for (const std::size_t half : kind.halves) {
      put_half(w.file + last_block + half, -INFINITY);
      w.pack(k);
      EXPECT_FALSE(w.finite) << name_of(kind.type);
      put_half(w.file + last_block + half, 1);
    }
    if (kind.halves.empty()) {
      w.file[last_block] = 253;
      w.pack(k);
      EXPECT_FALSE(w.finite);
      w.file[last_block] = 252;
    }
    w.pack(k);
    EXPECT_TRUE(w.finite) << name_of(kind.type);
  }
}

INSTANTIATE_TEST_SUITE_P(Tables, BlockProducts, every_table(), table_name);

}  // namespace
}  // namespace tril::kern::block_products_test
