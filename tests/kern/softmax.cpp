// Softmax, losses on it and the argmax, against doubles.
#include <algorithm>
#include <numeric>

#include "kern/support.h"

namespace tril::kern {
namespace {

const float inf = HUGE_VALF;

double log_sum_exp(const float* x, std::size_t n, double temperature = 1) {
  double m = -inf, sum = 0;
  for (std::size_t i = 0; i < n; ++i) m = std::max(m, x[i] / temperature);
  for (std::size_t i = 0; i < n; ++i) sum += std::exp(x[i] / temperature - m);
  return m + std::log(sum);
}

std::vector<std::size_t> widths() {
  auto all = sizes();
  all.erase(all.begin());  // a row of no logits has no distribution
  return all;
}

using Softmax = KernelTest;

TEST_P(Softmax, LogSoftmaxAndItsSum) {
  for (const std::size_t cols : widths())
    for (std::size_t slack = 0; slack < 4; ++slack)
      for (const double offset : {0.0, -200.0, 1000.0}) {
        const std::size_t rows = 3;
        Floats32 x(rows * cols, slack), y(rows * cols, slack ^ 1), lse(rows, slack);
        fill_normal(x, cols, 5, offset);
        if (cols > 2) x[1] = -inf;
        std::vector<double> ey(rows * cols), elog(rows);
        for (std::size_t i = 0; i < rows; ++i) {
          elog[i] = log_sum_exp(x + i * cols, cols);
          for (std::size_t j = 0; j < cols; ++j) ey[i * cols + j] = x[i * cols + j] - elog[i];
        }
        k.log_sum_exp(x, lse, rows, cols);
        expect_close(lse, elog, 1e-6, "log_sum_exp");
        // Near zero, a log-probability is a difference of values as large as the offset.
        k.log_softmax(x, y, rows, cols);
        expect_close(y, ey, 1e-6 + 2e-7 * std::abs(offset), "log_softmax");
        k.log_softmax(x, x, rows, cols);
        expect_close(x, ey, 1e-6 + 2e-7 * std::abs(offset), "log_softmax in place");
      }
}

TEST_P(Softmax, OddRows) {
  std::vector<float> x(40, -inf);
  float lse = 0;
  k.log_sum_exp(x.data(), &lse, 1, x.size());
  EXPECT_EQ(lse, -inf);
  for (const std::size_t at : {0u, 7u, 39u}) {
    std::vector<float> one = x;
    one[at] = 2;
    k.log_sum_exp(one.data(), &lse, 1, one.size());
    EXPECT_EQ(lse, 2);
    one[at] = NAN;
    k.log_sum_exp(one.data(), &lse, 1, one.size());
    EXPECT_TRUE(std::isnan(lse)) << at;
  }
}

TEST_P(Softmax, CrossEntropy) {
  for (const std::size_t cols : widths())
    for (std::size_t slack = 0; slack < 4; ++slack)
      for (const float eps : {0.0f, 0.1f}) {
        const std::size_t rows = 5;
        Floats32 x(rows * cols, slack), losses(rows, slack ^ 1), alone(rows, slack), dx(rows * cols, slack ^ 2);
        fill_normal(x, cols, 3, 50);
        const double v = static_cast<double>(cols);
        const std::vector<std::int32_t> targets = {0, -7, static_cast<std::int32_t>(cols - 1),
                                                   static_cast<std::int32_t>(cols / 2), 0};
        const std::vector<float> weights = {1, 1, 0.5f, 2, 0};
        const CrossEntropy c{
            .targets = targets.data(), .ignore = -7, .eps = eps, .gradient_scale = 0.25f, .weights = weights.data()};
        std::vector<double> eloss(rows), edx(rows * cols);
        for (std::size_t i = 0; i < rows; ++i) {
          if (targets[i] == c.ignore) continue;
          const double lse = log_sum_exp(x + i * cols, cols);
          for (std::size_t j = 0; j < cols; ++j) {
            const double log_p = x[i * cols + j] - lse;
            const double q = (static_cast<std::size_t>(targets[i]) == j ? 1 - static_cast<double>(eps) : 0) + eps / v;
            eloss[i] -= weights[i] * q * log_p;
            edx[i * cols + j] = 0.25 * weights[i] * (std::exp(log_p) - q);
          }
        }
        k.cross_entropy(c, x, alone, /*d_logits=*/nullptr, rows, cols);
        expect_close(alone, eloss, 1e-6, "losses alone");
        k.cross_entropy(c, x, losses, dx, rows, cols);
        expect_close(losses, eloss, 1e-6, "losses");
        expect_close(dx, edx, 4e-7, "d_logits");
        k.cross_entropy(c, x, losses, x, rows, cols);
        expect_close(losses, eloss, 1e-6, "losses in place");
        expect_close(x, edx, 4e-7, "d_logits in place");
      }
}

TEST_P(Softmax, Distillation) {
  const double t = 2.5, gradient_scale = 0.5;
  for (const std::size_t cols : widths())
    for (std::size_t slack = 0; slack < 4; ++slack) {
      const std::size_t rows = 4;
      Floats32 student(rows * cols, slack), teacher(rows * cols, slack ^ 1), losses(rows), ds(rows * cols, slack ^ 2);
      fill_normal(student, 1, 3);
      fill_normal(teacher, 2, 3);
      if (cols > 3) student[2] = teacher[2] = teacher[3] = -inf;  // a masked word is no difference
      const std::vector<float> weights = {1, 0, 0.5f, 2};
      std::vector<double> eloss(rows), eds(rows * cols);
      for (std::size_t i = 0; i < rows; ++i) {
        if (weights[i] == 0) continue;
        const double ls = log_sum_exp(student + i * cols, cols, t), lt = log_sum_exp(teacher + i * cols, cols, t);
        for (std::size_t j = 0; j < cols; ++j) {
          const double log_p = student[i * cols + j] / t - ls, log_q = teacher[i * cols + j] / t - lt;
          if (std::exp(log_q) > 0) eloss[i] += weights[i] * t * t * std::exp(log_q) * (log_q - log_p);
          eds[i * cols + j] = gradient_scale * weights[i] * t * (std::exp(log_p) - std::exp(log_q));
        }
      }
      k.distillation(student, teacher, weights.data(), 2.5f, 0.5f, losses, /*d_student=*/nullptr, rows, cols);
      expect_close(losses, eloss, 4e-6, "losses alone");
      k.distillation(student, teacher, weights.data(), 2.5f, 0.5f, losses, ds, rows, cols);
      expect_close(ds, eds, 1e-6, "d_student");
      k.distillation(student, teacher, weights.data(), 2.5f, 0.5f, losses, student, rows, cols);
      expect_close(losses, eloss, 4e-6, "losses in place");
      expect_close(student, eds, 1e-6, "d_student in place");
    }
}

TEST_P(Softmax, RDrop) {
  const double alpha = 3, gradient_scale = 0.25;
  for (const std::size_t cols : widths())
    for (std::size_t slack = 0; slack < 4; ++slack)
      for (const float eps : {0.0f, 0.1f}) {
        const std::size_t rows = 5;
        Floats32 a(rows * cols, slack), b(rows * cols, slack ^ 1), losses(rows, slack), alone(rows, slack ^ 1);
        fill_normal(a, cols, 2, 50);
        fill_normal(b, cols + 1, 2, -20);
        // a masked word is no difference
        if (cols > 3 && eps == 0) a[cols - 1 - cols / 4] = b[cols - 1 - cols / 4] = -inf;
        const std::vector<std::int32_t> targets = {0, -7, static_cast<std::int32_t>(cols - 1),
                                                   static_cast<std::int32_t>(cols / 2), 0};
        const std::vector<float> weights = {1, 1, 0.5f, 2, 0};
        const CrossEntropy c{
            .targets = targets.data(), .ignore = -7, .eps = eps, .gradient_scale = 0.25f, .weights = weights.data()};
        std::vector<double> eloss(rows), ea(rows * cols), eb(rows * cols);
        for (std::size_t i = 0; i < rows; ++i) {
          if (targets[i] == c.ignore) continue;
          const double lse_a = log_sum_exp(a + i * cols, cols), lse_b = log_sum_exp(b + i * cols, cols);
          const auto each = [&](const auto& f) {
            for (std::size_t j = 0; j < cols; ++j) {
              const double la = a[i * cols + j] - lse_a, lb = b[i * cols + j] - lse_b;
              f(j, la, lb, std::isinf(la) ? 0 : la - lb,
                (static_cast<std::size_t>(targets[i]) == j ? 1 - static_cast<double>(eps) : 0) +
                    eps / static_cast<double>(cols));
            }
          };
          double entropies = 0, kl_ab = 0, kl_ba = 0;
          each([&](std::size_t, double la, double lb, double d, double want) {
            if (want != 0) entropies -= want * (la + lb);
            kl_ab += std::exp(la) * d, kl_ba -= std::exp(lb) * d;
          });
          eloss[i] = weights[i] * (entropies / 2 + alpha / 4 * (kl_ab + kl_ba));
          each([&](std::size_t j, double la, double lb, double d, double want) {
            const double p = std::exp(la), q = std::exp(lb), scale = gradient_scale * weights[i];
            ea[i * cols + j] = scale * ((p - want) / 2 + alpha / 4 * (p * (d - kl_ab) + p - q));
            eb[i * cols + j] = scale * ((q - want) / 2 + alpha / 4 * (q * (-d - kl_ba) + q - p));
          });
        }
        k.r_drop(c, 3.0f, a, b, alone, /*gradients=*/false, rows, cols);
        expect_close(alone, eloss, 4e-6, "losses alone");
        k.r_drop(c, 3.0f, a, b, losses, /*gradients=*/true, rows, cols);
        expect_close(losses, eloss, 4e-6, "losses");
        expect_close(a, ea, 2e-6, "first gradient");
        expect_close(b, eb, 2e-6, "second gradient");
      }
}

/// By a full sort: largest first, NaN last, the smaller index first on ties.
std::vector<std::int32_t> sorted(const float* x, std::size_t cols) {
  std::vector<std::int32_t> order(cols);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int32_t a, std::int32_t b) { return std::isnan(x[b]) ? !std::isnan(x[a]) : x[a] > x[b]; });
  return order;
}

TEST_P(Softmax, TopK) {
  for (const std::size_t cols : widths())
    for (std::size_t slack = 0; slack < 4; ++slack)
      for (const int kind : {0, 1, 2, 3, 4}) {
        const std::size_t rows = 2;
        Floats32 x(rows * cols, slack);
        fill_normal(x, cols + slack);
        for (std::size_t i = 0; i < x.size(); ++i) {
          if (kind == 1) x[i] = std::round(x[i]);   // many equal
          if (kind == 2 && i % 3 != 1) x[i] = NAN;  // mostly NaN
          if (kind == 3) x[i] = i % 5 == 4 ? -inf : i % 7 == 5 ? inf : NAN;
          if (kind == 4) x[i] = static_cast<float>(i);  // every value larger than all before
        }
        for (const std::size_t n :
             {std::size_t{1}, std::size_t{2}, std::size_t{5}, std::size_t{16}, std::size_t{64}, cols}) {
          if (n > cols) continue;
          Floats32 values(rows * n, slack ^ 1);
          Guarded<std::int32_t> indices(rows * n, slack);
          k.top_k(x, rows, cols, n, values, indices);
          EXPECT_TRUE(values.intact() && indices.intact());
          for (std::size_t row = 0; row < rows; ++row) {
            const auto order = sorted(x + row * cols, cols);
            for (std::size_t i = 0; i < n; ++i) {
              ASSERT_EQ(indices[row * n + i], order[i]) << cols << " " << n << " kind " << kind << " place " << i;
              const float expected = x[row * cols + static_cast<std::size_t>(order[i])];
              ASSERT_EQ(std::memcmp(&values[row * n + i], &expected, sizeof(float)), 0);
            }
          }
        }
      }
}

INSTANTIATE_TEST_SUITE_P(Kernels, Softmax, every_table(), table_name);

}  // namespace
}  // namespace tril::kern
