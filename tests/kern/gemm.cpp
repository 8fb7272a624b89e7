// Matrix products against three loops in double: every transposition, strides, accumulation, sizes around one.
#include "kern/gemm.h"

#include "kern/support.h"

namespace tril::kern {
namespace {

struct Size {
  std::size_t m, n, k;
};

TEST(Gemm, EqualsItsTwin) {
  for (const auto& [m, n, k] : {Size{1, 1, 1}, Size{1, 17, 5}, Size{3, 1, 7}, Size{2, 64, 128}, Size{7, 33, 16},
                                Size{32, 48, 65}, Size{65, 130, 33}, Size{128, 96, 256}, Size{4, 5, 0}})
    for (const bool transpose_a : {false, true})
      for (const bool transpose_b : {false, true})
        for (const bool accumulate : {false, true})
          for (const std::size_t wider : {0u, 3u}) {
            Gemm g{.m = m,
                   .n = n,
                   .k = k,
                   .transpose_a = transpose_a,
                   .transpose_b = transpose_b,
                   .accumulate = accumulate};
            g.a_stride = (transpose_a ? m : k) + wider;
            g.b_stride = (transpose_b ? k : n) + wider;
            g.c_stride = n + wider;
            Floats32 a((transpose_a ? k : m) * g.a_stride, 1), b((transpose_b ? n : k) * g.b_stride, 2);
            Floats32 c(m * g.c_stride - wider, 3);
            fill_normal(a, 1);
            fill_normal(b, 2);
            fill_normal(c, 3);
            std::vector<double> expected(c.data(), c.data() + c.size());
            for (std::size_t i = 0; i < m; ++i)
              for (std::size_t j = 0; j < n; ++j) {
                double sum = accumulate ? c[i * g.c_stride + j] : 0;
                for (std::size_t p = 0; p < k; ++p)
                  sum += static_cast<double>(transpose_a ? a[p * g.a_stride + i] : a[i * g.a_stride + p]) *
                         (transpose_b ? b[j * g.b_stride + p] : b[p * g.b_stride + j]);
                expected[i * g.c_stride + j] = sum;
              }
            g.a = a;
            g.b = b;
            g.c = c;
            gemm(g);
            // Partial sums grow with the square root of the number of terms, and so does the number of relevant roundings.
            expect_close(c, expected, 1.2e-7 * (static_cast<double>(k) + 8),
                         "gemm " + std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k) +
                             (transpose_a ? " A^T" : "") + (transpose_b ? " B^T" : "") + (accumulate ? " added" : ""));
            if (testing::Test::HasFatalFailure()) return;
          }
}

TEST(Gemm, OfNothingIsNothing) {
  float c = 5;
  gemm({.m = 0, .n = 1, .k = 1, .a_stride = 1, .b_stride = 1, .c = &c, .c_stride = 1});
  EXPECT_EQ(c, 5);
}

}  // namespace
}  // namespace tril::kern
