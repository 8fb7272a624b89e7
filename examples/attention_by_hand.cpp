// Attention by hand: one head, four tokens, every number. A token's query is compared with the keys of all tokens, the
// mask forbids those after it, and the softmax of what is left says how much of each value it takes:
//
//   S = Q K^T / sqrt(d_k) + mask,   P = softmax(S) row by row,   Y = P V          [Vaswani et al. 2017, eq. 1]
//
// The mask is a matrix of 0 (the query of this row may see the key of this column) and -inf (it may not): exp(-inf) is
// 0, so a forbidden key gets weight 0, and no gradient. At the end, tril's engine computes the same, and the numbers
// must agree.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>

#include "tril/lab.h"

namespace {

using namespace tril;

constexpr std::size_t tokens = 4, d_k = 2;
constexpr std::array<const char*, tokens> words{"the", "cat", "sat", "down"};

template <std::size_t columns>
using Matrix = std::array<std::array<double, columns>, tokens>;

// In a model these are x W_Q, x W_K and x W_V; here they are chosen.
constexpr Matrix<d_k> Q{{{1, 0}, {2, 1}, {0, 2}, {-1, 1}}};
constexpr Matrix<d_k> K{{{1, 1}, {2, 0}, {0, 1}, {1, -1}}};
constexpr Matrix<d_k> V{{{1, 0}, {0, 1}, {2, 2}, {-1, 3}}};

template <std::size_t columns>
void print(const char* title, const Matrix<columns>& m) {
  fmt::print("{}\n", title);
  for (std::size_t i = 0; i < tokens; ++i) {
    fmt::print("  {:<5}", words[i]);
    for (const double x : m[i]) fmt::print(" {:>7}", std::isinf(x) ? "-inf" : fmt::format("{:.3f}", x));
    fmt::print("\n");
  }
}

Matrix<tokens> causal_mask() {
  Matrix<tokens> mask{};
  for (std::size_t i = 0; i < tokens; ++i)
    for (std::size_t j = 0; j < tokens; ++j) mask[i][j] = j <= i ? 0 : -std::numeric_limits<double>::infinity();
  return mask;
}

// Q K^T / sqrt(d_k): the sum of d_k products grows like sqrt(d_k), and the division takes that back.
Matrix<tokens> scores() {
  Matrix<tokens> S{};
  for (std::size_t i = 0; i < tokens; ++i)
    for (std::size_t j = 0; j < tokens; ++j)
      for (std::size_t d = 0; d < d_k; ++d) S[i][j] += Q[i][d] * K[j][d] / std::sqrt(static_cast<double>(d_k));
  return S;
}

Matrix<tokens> sum(Matrix<tokens> a, const Matrix<tokens>& b) {
  for (std::size_t i = 0; i < tokens; ++i)
    for (std::size_t j = 0; j < tokens; ++j) a[i][j] += b[i][j];
  return a;
}

// exp(S - the row's largest) divided by the row's sum. Subtracting the largest changes nothing but keeps exp finite.
Matrix<tokens> softmax(Matrix<tokens> S) {
  for (auto& row : S) {
    double largest = row[0], total = 0;
    for (const double s : row) largest = std::max(largest, s);
    for (double& s : row) total += s = std::exp(s - largest);
    for (double& s : row) s /= total;
  }
  return S;
}

Matrix<d_k> mixed(const Matrix<tokens>& P) {
  Matrix<d_k> Y{};
  for (std::size_t i = 0; i < tokens; ++i)
    for (std::size_t j = 0; j < tokens; ++j)
      for (std::size_t d = 0; d < d_k; ++d) Y[i][d] += P[i][j] * V[j][d];
  return Y;
}

Tensor uploaded(const Context& c, const Matrix<d_k>& m) {
  std::vector<float> values;
  for (const auto& row : m) values.insert(values.end(), row.begin(), row.end());
  return c.upload<float>(values, {tokens, d_k});
}

template <std::size_t columns>
double difference(const Matrix<columns>& a, const std::vector<float>& b) {
  check(b.size() == tokens * columns, "attention_by_hand", "the engine gave {} numbers, not {}", b.size(),
        tokens * columns);
  double most = 0;
  for (std::size_t i = 0; i < b.size(); ++i)
    most = std::max(most, std::abs(a[i / columns][i % columns] - static_cast<double>(b[i])));
  return most;
}

// Keeps the weights of an attention.
class SeesWeights : public Observer {
 public:
  std::vector<float> weights;

 protected:
  bool wants_point(const std::string& name) override { return name == "weights"; }
  bool see_point(Context&, const std::string&, std::int64_t, Tensor& value) override {
    weights = host_copy<float>(value);
    return false;  // it stays as it is
  }
};

int run() {
  print("Q: what each token looks for", Q);
  print("K: what each token offers", K);
  print("V: what each token gives", V);
  const Matrix<tokens> mask = causal_mask(), S = scores(), masked = sum(S, mask), P = softmax(masked);
  print("Q K^T / sqrt(2): a row is a query, a column a key", S);
  print("the mask: no token sees a later one", mask);
  print("scores with the mask", masked);
  print("P: their softmax; each row sums to 1", P);
  const Matrix<d_k> Y = mixed(P);
  print("Y = P V", Y);

  // The same by the engine, which never stores P: it is computed for an observer alone.
  Arena arena;
  Context c(arena);
  SeesWeights observer;
  c.set_observer(&observer);
  const Rows rows = Rows::rectangle(1, tokens);
  const Tensor y = ops::attention(c, {uploaded(c, Q), uploaded(c, K), uploaded(c, V)}, ops::spans_of(rows, rows),
                                  {.num_heads = 1, .mask = ops::Mask::causal()});
  const double of_weights = difference(P, observer.weights), of_results = difference(Y, host_copy<float>(y));
  fmt::print("the engine differs by at most {:.0e} in P and {:.0e} in Y\n", of_weights, of_results);
  return of_weights < 1e-6 && of_results < 1e-5 ? 0 : 1;
}

}  // namespace

int main() {
  try {
    return run();
  } catch (const tril::Error& error) {
    fmt::print(stderr, "attention_by_hand: {}\n", error.what());
    return 1;
  }
}
