// The gradient of attention, three times: by its formulas, by tril's tape, and by finite differences.
//
//   S = Q K^T / sqrt(d_k), masked;   P = softmax(S);   Y = P V;   a loss L with the gradient dY = dL/dY
//
//   dV = P^T dY                                    each value gets the gradient of those that took it
//   dP = dY V^T
//   dS = P o (dP - rowsum(dP o P))                 o multiplies element by element: the gradient of the softmax
//   dQ = dS K / sqrt(d_k),   dK = dS^T Q / sqrt(d_k)
//
// A masked pair has P = 0, hence dS = 0: nothing flows through it. Finite differences know none of this. They move one
// number by a little and look at what the loss does: (L(x + h) - L(x - h)) / 2h.
#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "tril/lab.h"

namespace {

using namespace tril;

constexpr std::size_t T = 4, d_k = 3;
const double scale = 1 / std::sqrt(static_cast<double>(d_k));

using Matrix = std::vector<double>;  // row by row

struct Inputs {
  Matrix Q, K, V;
};

Matrix random_matrix(std::uint64_t seed) {
  RandomSequence random(seed, 0);
  Matrix m(T * d_k);
  for (double& x : m) x = static_cast<double>(static_cast<float>(random.normal()));  // the engine gets the same numbers
  return m;
}

Matrix weights(const Inputs& x) {
  Matrix P(T * T);
  for (std::size_t i = 0; i < T; ++i) {
    double total = 0;
    for (std::size_t j = 0; j <= i; ++j) {  // later keys are masked: their weight stays 0
      double s = 0;
      for (std::size_t d = 0; d < d_k; ++d) s += scale * x.Q[i * d_k + d] * x.K[j * d_k + d];
      total += P[i * T + j] = std::exp(s);
    }
    for (std::size_t j = 0; j <= i; ++j) P[i * T + j] /= total;
  }
  return P;
}

/// L = the sum of Y o dY, whose gradient by Y is dY.
double loss(const Inputs& x, const Matrix& dY) {
  const Matrix P = weights(x);
  double L = 0;
  for (std::size_t i = 0; i < T; ++i)
    for (std::size_t j = 0; j < T; ++j)
      for (std::size_t d = 0; d < d_k; ++d) L += P[i * T + j] * x.V[j * d_k + d] * dY[i * d_k + d];
  return L;
}

Inputs by_formulas(const Inputs& x, const Matrix& dY) {
  const Matrix P = weights(x);
  Matrix dP(T * T), dS(T * T);
  Inputs g{Matrix(T * d_k), Matrix(T * d_k), Matrix(T * d_k)};
  for (std::size_t i = 0; i < T; ++i) {
    double row_sum = 0;
    for (std::size_t j = 0; j < T; ++j) {
      for (std::size_t d = 0; d < d_k; ++d) {
        dP[i * T + j] += dY[i * d_k + d] * x.V[j * d_k + d];
        g.V[j * d_k + d] += P[i * T + j] * dY[i * d_k + d];
      }
      row_sum += dP[i * T + j] * P[i * T + j];
    }
    for (std::size_t j = 0; j < T; ++j) {
      dS[i * T + j] = P[i * T + j] * (dP[i * T + j] - row_sum);
      for (std::size_t d = 0; d < d_k; ++d) {
        g.Q[i * d_k + d] += scale * dS[i * T + j] * x.K[j * d_k + d];
        g.K[j * d_k + d] += scale * dS[i * T + j] * x.Q[i * d_k + d];
      }
    }
  }
  return g;
}

Matrix differences(Inputs x, Matrix Inputs::*which, const Matrix& dY) {
  constexpr double h = 1e-5;
  Matrix g(T * d_k);
  for (std::size_t i = 0; i < g.size(); ++i) {
    const double at = (x.*which)[i];
    (x.*which)[i] = at + h;
    const double above = loss(x, dY);
    (x.*which)[i] = at - h;
    const double below = loss(x, dY);
    (x.*which)[i] = at;
    g[i] = (above - below) / (2 * h);
  }
  return g;
}

Tensor uploaded(const Context& c, const Matrix& m) {
  const std::vector<float> values(m.begin(), m.end());
  return c.upload<float>(values, {T, d_k});
}

Inputs by_tape(const Inputs& x, const Matrix& dY) {
  Arena arena;
  Context c(arena);
  Tape tape;
  Grads grads;
  const Tensor q = uploaded(c, x.Q), k = uploaded(c, x.K), v = uploaded(c, x.V);
  for (const Tensor* input : {&q, &k, &v}) tape.watch(*input);
  c.set_tape(&tape);
  const Rows rows = Rows::rectangle(1, T);
  const Tensor y =
      ops::attention(c, {q, k, v}, ops::spans_of(rows, rows), {.num_heads = 1, .mask = ops::Mask::causal()});
  tape.backward(c, y, uploaded(c, dY), grads);
  const auto of = [&](const Tensor& input) {
    const std::vector<float> g = host_copy<float>(grads.get(input));
    return Matrix(g.begin(), g.end());
  };
  return {of(q), of(k), of(v)};
}

int run() {
  const Inputs x{random_matrix(1), random_matrix(2), random_matrix(3)};
  const Matrix dY = random_matrix(4);
  const Inputs formulas = by_formulas(x, dY), tape = by_tape(x, dY);
  double most_of_formulas = 0, most_of_tape = 0;
  fmt::print("{:<10} {:>12} {:>12} {:>12}\n", "gradient", "differences", "formulas", "tape");
  const auto compare = [&](const char* name, Matrix Inputs::*which) {
    const Matrix slope = differences(x, which, dY);
    for (std::size_t i = 0; i < slope.size(); ++i) {
      const double a = (formulas.*which)[i], b = (tape.*which)[i];
      fmt::print("{:<10} {:>12.6f} {:>12.6f} {:>12.6f}\n", fmt::format("{}[{},{}]", name, i / d_k, i % d_k), slope[i],
                 a, b);
      most_of_formulas = std::max(most_of_formulas, std::abs(a - slope[i]));
      most_of_tape = std::max(most_of_tape, std::abs(b - slope[i]));
    }
  };
  compare("dQ", &Inputs::Q);
  compare("dK", &Inputs::K);
  compare("dV", &Inputs::V);
  fmt::print("largest difference from finite differences: formulas {:.0e}, tape {:.0e}\n", most_of_formulas,
             most_of_tape);
  // Doubles against doubles, up to h squared; float32 against doubles.
  return most_of_formulas < 1e-8 && most_of_tape < 1e-5 ? 0 : 1;
}

}  // namespace

int main() {
  try {
    return run();
  } catch (const tril::Error& error) {
    fmt::print(stderr, "attention_gradient: {}\n", error.what());
    return 1;
  }
}
