// Products of bfloat16 on every table against three loops in double over individually rounded operands.
#include "kern/gemm_bf16.h"

#include <fmt/format.h>

#include "base/half.h"
#include "kern/support.h"

namespace tril::kern::gemm_bf16_test {
namespace {

class GemmBf16 : public KernelTest {};

double rounded(float x) {
  return bf16_to_f32(f32_to_bf16(x));
}

struct Size {
  std::size_t m, n, k;
};

struct Operands {
  Floats32 a, b;
  std::size_t a_stride, b_stride;
};

TEST_P(GemmBf16, EqualsItsTwin) {
  for (const auto& [m, n, depth] :
       {Size{1, 1, 1},     Size{1, 17, 5},     Size{3, 1, 7},     Size{16, 16, 32},   Size{17, 33, 31},
        Size{33, 64, 64},  Size{40, 31, 65},   Size{257, 48, 33}, Size{20, 40, 1030}, Size{5, 20, 300},
        Size{1, 129, 600}, Size{2, 33, 300},   Size{2, 129, 600}, Size{3, 64, 300},   Size{4, 40, 300},
        Size{4, 40, 2100}, Size{2, 3, 0},      Size{10, 64, 65},  Size{5, 3, 0},      Size{0, 3, 2},
        Size{3, 0, 2},     Size{70, 140, 600}, Size{39, 33, 290}})
    for (const bool transpose_a : {false, true})
      for (const bool transpose_b : {false, true})
        for (const bool accumulate : {false, true}) {
          const std::size_t wider = 3, a_stride = (transpose_a ? m : depth) + wider,
                            b_stride = (transpose_b ? depth : n) + wider, c_stride = n + wider;
          const auto last = [&](std::size_t rows, std::size_t stride) { return rows ? rows * stride - wider : 0; };
          Floats32 a(last(transpose_a ? depth : m, a_stride), 1), b(last(transpose_b ? n : depth, b_stride), 2);
          Floats32 c(last(m, c_stride), 3);
          fill_normal(a, 1), fill_normal(b, 2), fill_normal(c, 3);
          std::vector<double> expected(c.data(), c.data() + c.size());
          for (std::size_t i = 0; i < m; ++i)
            for (std::size_t j = 0; j < n; ++j) {
              double sum = accumulate ? c[i * c_stride + j] : 0;
              for (std::size_t p = 0; p < depth; ++p)
                sum += rounded(transpose_a ? a[p * a_stride + i] : a[i * a_stride + p]) *
                       rounded(transpose_b ? b[j * b_stride + p] : b[p * b_stride + j]);
              expected[i * c_stride + j] = sum;
            }
          std::vector<std::uint16_t> packed(packed_right_values(depth, n)), scratch(packed_gemm_scratch);
          k.pack_right(
              {.b = b, .stride = b_stride, .k = depth, .n = n, .transposed = transpose_b, .packed = packed.data()});
          std::vector<std::int32_t> ids(n);
          for (std::size_t i = 0; i < n; ++i) ids[i] = static_cast<std::int32_t>(n - 1 - i);
          std::vector<float> columns(n * depth);
          k.gather_packed(packed.data(), depth, ids.data(), columns.data(), n);
          for (std::size_t i = 0; i < n; ++i)
            for (std::size_t p = 0; p < depth; ++p) {
              const std::size_t j = n - 1 - i;
              ASSERT_EQ(columns[i * depth + p],
                        static_cast<float>(rounded(transpose_b ? b[j * b_stride + p] : b[p * b_stride + j])));
            }
          k.packed_gemm({.m = m,
                         .n = n,
                         .k = depth,
                         .a = a,
                         .a_stride = a_stride,
                         .transpose_a = transpose_a,
                         .b = packed.data(),
                         .c = c,
                         .c_stride = c_stride,
                         .accumulate = accumulate,
                         .scratch = scratch.data()});
          expect_close(c, expected, 2e-7 * (static_cast<double>(depth) + 8),
                       fmt::format("{}x{}x{} {} {} {}", m, n, depth, transpose_a, transpose_b, accumulate));
          if (HasFatalFailure()) return;
        }
}

// Without bfloat16 instructions, sums are added in one order, whatever the number of rows.
TEST(GemmBf16InFloat32, FewRowsHaveTheBitsOfMany) {
  constexpr std::size_t many = 100, n = 200, depth = 600;
  Floats32 a(many * depth, 1), b(depth * n, 2), expected(many * n, 1);
  fill_normal(a, 1), fill_normal(b, 2);
  std::vector<std::uint16_t> packed(packed_right_values(depth, n)), scratch(packed_gemm_scratch);
  std::size_t tested = 0;
  for (const Kernels* const k : tables()) {
    if (k->name != "generic" && k->name != "avx2") continue;
    SCOPED_TRACE(k->name);
    ++tested;
    k->pack_right({.b = b, .stride = n, .k = depth, .n = n, .packed = packed.data()});
    const auto product = [&](std::size_t m, float* c) {
      k->packed_gemm({.m = m,
                      .n = n,
                      .k = depth,
                      .a = a,
                      .a_stride = depth,
                      .b = packed.data(),
                      .c = c,
                      .c_stride = n,
                      .scratch = scratch.data()});
    };
    product(many, expected);
    for (const std::size_t m : {1, 2, 3, 4, 5, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 43, 64, 71, 99}) {
      Floats32 c(m * n, 1);
      product(m, c);
      for (std::size_t i = 0; i < m * n; ++i) ASSERT_EQ(c[i], expected[i]) << m << " rows, value " << i;
    }
  }
  EXPECT_GT(tested, 0u);
}

TEST_P(GemmBf16, FinishesWithBiasActivationDropoutAndResidual) {
  constexpr Dropout drop{.p = 0.3f, .key = {0x12345678u, 0x9abcdef0u}};
  const std::size_t depth = 40;
  for (const auto& [m, n] : {std::pair<std::size_t, std::size_t>{5, 7}, {70, 64}, {33, 50}, {257, 3}})
    for (const bool bias : {false, true})
      for (const bool residual : {false, true})
        for (const bool keeps : {false, true})
          for (const bool drops : {false, true})
            for (const Activation f : {Activation::none, Activation::relu, Activation::silu}) {
              Floats32 a(m * depth, 1), b(depth * n, 2), beta(n, 1), r(m * n, 1), y(m * n, 3), z(m * n, 2);
              fill_normal(a, 1), fill_normal(b, 2), fill_normal(beta, 3), fill_normal(r, 4);
              std::vector<double> expected_y, expected_z;
              for (std::size_t i = 0; i < m; ++i)
                for (std::size_t j = 0; j < n; ++j) {
                  double sum = bias ? beta[j] : 0;
                  for (std::size_t p = 0; p < depth; ++p) sum += rounded(a[i * depth + p]) * rounded(b[p * n + j]);
                  expected_z.push_back(sum);
                  if (f == Activation::relu) sum = std::max(sum, 0.0);
                  if (f == Activation::silu) sum /= 1 + std::exp(-sum);
                  if (drops)
                    sum *= random_bits(drop.key, static_cast<std::uint32_t>(i * n + j)) < dropout_threshold(drop.p)
                               ? 0
                               : 1 / (1 - static_cast<double>(drop.p));
                  expected_y.push_back(sum + (residual ? r[i * n + j] : 0));
                }
              std::vector<std::uint16_t> packed(packed_right_values(depth, n)), scratch(packed_gemm_scratch);
              k.pack_right({.b = b, .stride = n, .k = depth, .n = n, .packed = packed.data()});
              k.packed_gemm({.m = m,
                             .n = n,
                             .k = depth,
                             .a = a,
                             .a_stride = depth,
                             .b = packed.data(),
                             .c = y,
                             .c_stride = n,
                             .bias = bias ? beta.data() : nullptr,
                             .activation = f,
                             .z = keeps ? z.data() : nullptr,
                             .dropout = drops ? drop : Dropout{},
                             .residual = residual ? r.data() : nullptr,
                             .scratch = scratch.data()});
              const std::string what = fmt::format("{}x{} bias {} residual {} z {} dropout {} f {}", m, n, bias,
                                                   residual, keeps, drops, static_cast<int>(f));
              expect_close(y, expected_y, 1e-5, what);
              if (keeps) expect_close(z, expected_z, 1e-5, what + ": z");
              if (HasFatalFailure()) return;
            }
}

// Streaming stores or cached ones: the same bits, whether rows are aligned to cache lines or not.
TEST_P(GemmBf16, StreamedResultsAreTheSame) {
  struct alignas(64) Line {
    float values[16];
  };
  const Dropout drop{.p = 0.3f, .key = {0x12345678u, 0x9abcdef0u}};
  for (const auto& [m, n, depth] : {Size{300, 160, 600}, Size{33, 48, 40}, Size{64, 32, 0}, Size{70, 160, 2100}})
    for (const std::size_t offset : {0, 1}) {
      Floats32 a(m * depth, 1), b(depth * n, 2), bias(n, 1), r(m * n, 1);
      fill_normal(a, 1), fill_normal(b, 2), fill_normal(bias, 3), fill_normal(r, 4);
      std::vector<std::uint16_t> packed(packed_right_values(depth, n)), scratch(packed_gemm_scratch);
      k.pack_right({.b = b, .stride = n, .k = depth, .n = n, .packed = packed.data()});
      std::vector<std::vector<float>> results;
      for (const bool stream : {false, true}) {
        std::vector<Line> y(m * n / 16 + 1), z(m * n / 16 + 1);
        float *const to = y[0].values + offset, *const raw = z[0].values;
        k.packed_gemm({.m = m,
                       .n = n,
                       .k = depth,
                       .a = a,
                       .a_stride = depth,
                       .b = packed.data(),
                       .c = to,
                       .c_stride = n,
                       .bias = bias,
                       .activation = Activation::silu,
                       .z = raw,
                       .dropout = drop,
                       .residual = r,
                       .stream = stream,
                       .scratch = scratch.data()});
        results.emplace_back(to, to + m * n).insert(results.back().end(), raw, raw + m * n);
      }
      EXPECT_EQ(results[0], results[1]) << m << " " << n << " " << depth << " " << offset;
    }
}

TEST_P(GemmBf16, RoundsAsTheStandardDoesAndKeepsWhatIsNotANumber) {
  // One value times one: the result is the value as packed, on either side.
  std::vector<float> values{0.0f,
                            -0.0f,
                            1.0f,
                            1.00390625f,
                            1.01171875f,
                            3.3895314e38f,
                            3.4028235e38f,
                            1e-30f,
                            -1.9999999f,
                            INFINITY,
                            -INFINITY,
                            NAN,
                            -1.00390625f,
                            1.0039063f,
                            65504.f,
                            std::bit_cast<float>(0x7f800001u),
                            std::bit_cast<float>(0xffffffffu)};
  for (const bool transpose_a : {false, true})
    for (const bool transposed : {false, true})
      for (const float x : values)
        for (const bool left : {false, true}) {
          const float one = 1;
          float c = 7;
          std::vector<std::uint16_t> packed(packed_right_values(1, 1)), scratch(packed_gemm_scratch);
          k.pack_right(
              {.b = left ? &one : &x, .stride = 1, .k = 1, .n = 1, .transposed = transposed, .packed = packed.data()});
          k.packed_gemm({.m = 1,
                         .n = 1,
                         .k = 1,
                         .a = left ? &x : &one,
                         .a_stride = 1,
                         .transpose_a = transpose_a,
                         .b = packed.data(),
                         .c = &c,
                         .c_stride = 1,
                         .scratch = scratch.data()});
          if (std::isnan(x)) {
            EXPECT_TRUE(std::isnan(c)) << x;
          } else {
            EXPECT_EQ(c, rounded(x)) << x << (left ? " left" : " right");
          }
        }
}

INSTANTIATE_TEST_SUITE_P(EveryTable, GemmBf16, every_table(), table_name);

}  // namespace
}  // namespace tril::kern::gemm_bf16_test
