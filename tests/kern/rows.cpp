// Kernels over matrices: norms, bias, sums, transposition, copies and table rows, against loops of doubles.
#include <algorithm>
#include <array>

#include "kern/support.h"

namespace tril::kern {
namespace {

using Shape = std::pair<std::size_t, std::size_t>;

std::vector<Shape> shapes() {
  std::vector<Shape> all = {{0, 5}, {3, 1}, {9, 2}, {17, 33}, {8, 64}, {5, 130}, {33, 35}, {2, 1027}};
  for (std::size_t cols = 1; cols <= 35; ++cols) all.push_back({1 + cols % 5, cols});
  return all;
}

class RowKernels : public KernelTest {
 protected:
  /// body(rows, cols, slack) for all of them.
  template <class Body>
  void for_all(Body body) {
    for (const auto& [rows, cols] : shapes())
      for (std::size_t slack = 0; slack < 4 && !HasFatalFailure(); ++slack) body(rows, cols, slack);
  }
};

std::vector<double> doubles(const Floats32& x) {
  return {x.data(), x.data() + x.size()};
}

TEST_P(RowKernels, BiasAndActivation) {
  for_all([&](std::size_t rows, std::size_t cols, std::size_t slack) {
    Floats32 x(rows * cols, slack), bias(cols, slack), y(rows * cols, slack ^ 1);
    fill_normal(x, 1);
    fill_normal(bias, 2);
    std::vector<double> with(rows * cols), without(rows * cols);
    for (std::size_t i = 0; i < rows * cols; ++i) {
      with[i] = std::max(0.0, static_cast<double>(x[i]) + bias[i % cols]);
      without[i] = std::max(0.0, static_cast<double>(x[i]));
    }
    k.bias_activate(Activation::relu, x, bias, y, rows, cols);
    expect_close(y, with, 2e-7, "with bias");
    k.bias_activate(Activation::relu, x, /*bias=*/nullptr, y, rows, cols);
    expect_close(y, without, 0, "without bias");
    k.bias_activate(Activation::relu, x, bias, x, rows, cols);
    expect_close(x, with, 2e-7, "in place");
  });
}

TEST_P(RowKernels, ColumnSums) {
  for_all([&](std::size_t rows, std::size_t cols, std::size_t slack) {
    Floats32 dy(rows * cols, slack), db(cols, slack ^ 1);
    fill_normal(dy, 1);
    fill_normal(db, 2);
    auto expected = doubles(db);
    for (std::size_t i = 0; i < rows * cols; ++i) expected[i % cols] += dy[i];
    k.column_sums(dy, db, rows, cols);
    expect_close(db, expected, 2e-6, "db");
  });
}

TEST_P(RowKernels, TransposeAndStridedCopies) {
  for_all([&](std::size_t rows, std::size_t cols, std::size_t slack) {
    Floats32 x(rows * cols, slack), y(rows * cols, slack ^ 1);
    fill_normal(x, 1);
    std::vector<double> expected(rows * cols);
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < cols; ++j) expected[j * rows + i] = x[i * cols + j];
    k.transpose(x, y, rows, cols);
    expect_close(y, expected, 0, "transpose");

    if (rows == 0) return;
    const std::size_t wide = cols + 3;  // the gaps between rows must be unchanged
    Floats32 to(rows * wide - 3, slack ^ 2);
    fill_normal(to, 2);
    auto copied = doubles(to);
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < cols; ++j) copied[i * wide + j] = x[i * cols + j];
    k.copy_rows(x, cols, to, wide, rows, cols);
    expect_close(to, copied, 0, "copy_rows, widening");
    k.copy_rows(to, wide, y, cols, rows, cols);
    expect_close(y, doubles(x), 0, "copy_rows, narrowing");
  });
}

/// Both norms in double, with their gradients by the formulas of the papers' chain rule over h = (x - mean) scale.
struct NormTwin {
  std::vector<double> y, dx, dg, db, mean, scale;

  NormTwin(const Floats32& x, const Floats32& g, const float* b, const Floats32& dy, double eps, bool centred,
           std::size_t rows, std::size_t cols)
      : y(x.size()), dx(x.size()), dg(cols), db(cols), mean(rows), scale(rows) {
    const double d = static_cast<double>(cols);
    for (std::size_t i = 0; i < rows; ++i) {
      const std::size_t at = i * cols;
      double variance = 0, sum = 0, s_mean = 0, sh_mean = 0;
      for (std::size_t j = 0; j < cols; ++j) sum += x[at + j];
      mean[i] = centred ? sum / d : 0;
      for (std::size_t j = 0; j < cols; ++j) variance += (x[at + j] - mean[i]) * (x[at + j] - mean[i]) / d;
      scale[i] = 1 / std::sqrt(variance + eps);
      const auto h = [&](std::size_t j) { return (x[at + j] - mean[i]) * scale[i]; };
      const auto s = [&](std::size_t j) { return static_cast<double>(g[j]) * dy[at + j]; };
      for (std::size_t j = 0; j < cols; ++j) {
        y[at + j] = g[j] * h(j) + (b ? b[j] : 0);
        s_mean += centred ? s(j) / d : 0;
        sh_mean += s(j) * h(j) / d;
        dg[j] += dy[at + j] * h(j);
        db[j] += dy[at + j];
      }
      for (std::size_t j = 0; j < cols; ++j) dx[at + j] = scale[i] * (s(j) - s_mean - h(j) * sh_mean);
    }
  }
};

TEST_P(RowKernels, Norms) {
  const float eps = 1e-3f;  // large enough that rows of one column, whose variance is zero, compare well
  for_all([&](std::size_t rows, std::size_t cols, std::size_t slack) {
    for (const bool centred : {true, false}) {
      const std::string name = centred ? "layer_norm " : "rms_norm ";
      Floats32 x(rows * cols, slack), g(cols, slack ^ 1), b(cols, slack ^ 2), dy(rows * cols, slack ^ 3);
      Floats32 y(rows * cols, slack ^ 1), mean(rows, slack), scale(rows, slack ^ 1);
      fill_normal(x, 1, 2, 1);
      fill_normal(g, 2);
      fill_normal(b, 3);
      fill_normal(dy, 4);
      const NormTwin twin(x, g, centred ? b.data() : nullptr, dy, eps, centred, rows, cols);
      if (centred) {
        k.layer_norm(x, g, b, eps, y, mean, scale, rows, cols);
        expect_close(mean, twin.mean, 1e-6, name + "mean");
      } else {
        k.rms_norm(x, g, eps, y, scale, rows, cols);
      }
      expect_close(scale, twin.scale, 2e-6, name + "scale");
      expect_close(y, twin.y, 4e-6, name + "y");

      for (const bool accumulate : {false, true}) {
        Floats32 dx(rows * cols, slack ^ 2), dg(cols, slack), db(cols, slack ^ 3);
        fill_normal(dx, 5);
        fill_normal(dg, 6);
        fill_normal(db, 7);
        auto edx = twin.dx, edg = doubles(dg), edb = doubles(db);
        for (std::size_t i = 0; i < edx.size(); ++i) edx[i] += accumulate ? dx[i] : 0;
        for (std::size_t j = 0; j < cols; ++j) {
          edg[j] += twin.dg[j];
          edb[j] += twin.db[j];
        }
        if (centred)
          k.layer_norm_backward(x, g, mean, scale, dy, dx, accumulate, dg, db, rows, cols);
        else
          k.rms_norm_backward(x, g, scale, dy, dx, accumulate, dg, rows, cols);
        // A row of two nearly equal values has a large scale, and its dx is a small difference of large terms.
        expect_close(dx, edx, 4e-5, name + "dx");
        expect_close(dg, edg, 1e-5, name + "dg");
        if (centred) expect_close(db, edb, 2e-6, name + "db");
      }
    }
  });
}

TEST_P(RowKernels, NormsWithoutWhatMayBeNull) {
  const std::size_t rows = 3, cols = 21;
  Floats32 x(rows * cols), g(cols), dy(rows * cols), y(rows * cols), dx(rows * cols), mean(rows), scale(rows);
  fill_normal(x, 1);
  fill_normal(g, 2);
  fill_normal(dy, 3);
  k.layer_norm(x, g, /*b=*/nullptr, 1e-5f, y, /*mean=*/nullptr, /*rstd=*/nullptr, rows, cols);
  const NormTwin layer(x, g, nullptr, dy, 1e-5, true, rows, cols);
  expect_close(y, layer.y, 4e-6, "layer_norm");
  k.layer_norm(x, g, /*b=*/nullptr, 1e-5f, y, mean, scale, rows, cols);
  k.layer_norm_backward(x, g, mean, scale, dy, dx, false, /*dg=*/nullptr, /*db=*/nullptr, rows, cols);
  expect_close(dx, layer.dx, 1e-5, "layer_norm dx");
  Floats32 dg(cols);
  k.fill(0, dg, cols);
  k.layer_norm_backward(x, g, mean, scale, dy, /*dx=*/nullptr, false, dg, /*db=*/nullptr, rows, cols);
  expect_close(dg, layer.dg, 1e-5, "layer_norm dg alone");
  k.rms_norm(x, g, 1e-5f, y, /*inv_rms=*/nullptr, rows, cols);
  expect_close(y, NormTwin(x, g, nullptr, dy, 1e-5, false, rows, cols).y, 4e-6, "rms_norm");
}

TEST_P(RowKernels, LayerNormSurvivesALargeMean) {
  const std::size_t cols = 515;
  Floats32 x(cols), g(cols), y(cols), dy(cols);
  fill_normal(x, 1, 1, 4096);
  for (std::size_t j = 0; j < cols; ++j) g[j] = 1;
  k.layer_norm(x, g, /*b=*/nullptr, 1e-5f, y, /*mean=*/nullptr, /*rstd=*/nullptr, 1, cols);
  fill_normal(dy, 2);
  // The mean is rounded to 2^-11: that much each value may be off, and no more.
  expect_close(y, NormTwin(x, g, nullptr, dy, 1e-5, true, 1, cols).y, 6e-4, "y");
}

TEST_P(RowKernels, RowsOfATable) {
  for_all([&](std::size_t rows, std::size_t cols, std::size_t slack) {
    const std::size_t entries = 7;
    Floats32 table(entries * cols, slack), x(rows * cols, slack ^ 2), y(rows * cols, slack ^ 1);
    fill_normal(table, 1);
    fill_normal(x, 2);
    Guarded<std::int32_t> ids(rows, slack);
    for (std::size_t i = 0; i < rows; ++i)
      ids[i] = static_cast<std::int32_t>(random_bits({1, 2}, static_cast<std::uint32_t>(i)) % entries);
    std::vector<double> gathered(rows * cols), added(rows * cols);
    auto scattered = doubles(table);
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < cols; ++j) {
        const std::size_t from = static_cast<std::size_t>(ids[i]) * cols + j, at = i * cols + j;
        gathered[at] = 11.5 * table[from];
        added[at] = static_cast<double>(x[at]) + table[from];
        if (ids[i] != 3) scattered[from] += 1.5 * x[at];
      }
    k.gather(table, ids, 11.5f, y, rows, cols);
    expect_close(y, gathered, 2e-7, "gather");
    k.add_gathered(x, table, ids, y, rows, cols);
    expect_close(y, added, 2e-7, "add_gathered");
    k.scatter_add(table, ids, 1.5f, x, /*skip=*/3, rows, cols);
    expect_close(table, scattered, 2e-6, "scatter_add");
  });
}

INSTANTIATE_TEST_SUITE_P(Kernels, RowKernels, every_table(), table_name);

}  // namespace
}  // namespace tril::kern
