// One case of an op, and the checks made on it (check_op in ops/op_case.cpp):
//   - the value, against a reference in double, on every instruction set;
//   - the gradient of every float input, against central differences of that reference, when all are wanted and when
//   only one is;
//   - inputs in foreign, misaligned memory, and as columns of a wider matrix where the op allows it;
//   - without a tape the same bits as with one;
//   - used twice, twice the gradient.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "ops/ops.h"

namespace tril::test {

using Doubles = std::vector<double>;

struct OpCase {
  std::string name;
  std::vector<Shape> shapes;  ///< of the float inputs, which are standard normal
  std::function<Tensor(Context&, std::span<const Tensor>)> run;
  std::function<Doubles(std::span<const Doubles>)> reference;  ///< the same values in double, plain loops
  std::vector<std::size_t> columns;                            ///< inputs [N, D] that may be columns of a wider matrix
  bool training = false;    ///< dropout drops; its first stream is random_key(op_seed, 0)
  double tolerance = 1e-5;  ///< of a value, times 1 + |value|: float32 rounds at 6e-8 for each of some dozens of terms
  double gradient_tolerance = 5e-5;  ///< of a gradient, times 1 + the largest gradient of that input
};

inline constexpr std::uint64_t op_seed = 5;

void check_op(const OpCase& op);

/// The weight w [out, in] in the forms that products in mixed precision read.
ops::Weight mixed(Context& c, const Tensor& w);

/// Standard normal values, the same for the same stream.
std::vector<float> normal_values(std::int64_t count, std::uint64_t stream);

/// m[i, j] of a row-major matrix with `cols` columns.
inline double at(const Doubles& m, std::int64_t i, std::int64_t j, std::int64_t cols) {
  return m[static_cast<std::size_t>(i * cols + j)];
}

/// f(x) in double, by the formulas of the papers.
double activation(ops::Activation f, double x);

/// The factor by which dropout multiplies element `index`.
inline double dropout_factor(float p, RandomKey key, std::size_t index) {
  return random_bits(key, static_cast<std::uint32_t>(index)) < dropout_threshold(p)
             ? 0.0
             : 1.0 / (1.0 - static_cast<double>(p));
}

/// Expects that `f` throws an Error whose text contains `part`.
void expect_error(const std::function<void()>& f, const std::string& part);

}  // namespace tril::test
