// What changed since 2017, in plain C++: four parts of a Llama, each a function that follows its formula. At the end, tril's engine
// computes the same, and the numbers must agree.
//
//   rotary     (a, b) -> (a cos(t f) - b sin(t f), a sin(t f) + b cos(t f)),  f = 10000^(-2i/d_k)  [Su et al. 2021, eq. 13 and 15]
//   RMS norm   g o x / sqrt(mean(x^2) + eps)                                                        [Zhang & Sennrich 2019, eq. 4]
//   SwiGLU     (silu(x W_1) o (x W_3)) W_2,  silu(a) = a / (1 + exp(-a))                            [Shazeer 2020, eq. 6]
//   grouped    H heads of queries read H_kv heads of keys and values                                [Ainslie et al. 2023]
#define ONE_PAGE_DECODER_WITHOUT_MAIN
#include <fmt/format.h>

#include "nn/rotary.h"
#include "one_page_decoder.cpp"
#include "tril/lab.h"

namespace {

using namespace one_page;

// Each row of x is a token; row t stands at position first + t. Pairs are neighbours here; many files hold the first half of a head
// and then the second, and pair value i with value i + d_k / 2.
Matrix rotated(Matrix x, std::size_t first) {
  for (std::size_t t = 0; t < x.rows; ++t)
    for (std::size_t i = 0; 2 * i < x.columns; ++i) {
      const double f = std::pow(10000.0, -2.0 * static_cast<double>(i) / static_cast<double>(x.columns));
      const double angle = static_cast<double>(first + t) * f, a = x(t, 2 * i), b = x(t, 2 * i + 1);
      x(t, 2 * i) = a * std::cos(angle) - b * std::sin(angle);
      x(t, 2 * i + 1) = a * std::sin(angle) + b * std::cos(angle);
    }
  return x;
}

Matrix rms_normed(Matrix x, const Matrix& g) {
  for (std::size_t t = 0; t < x.rows; ++t) {
    double mean = 0;
    for (std::size_t j = 0; j < x.columns; ++j) mean += x(t, j) * x(t, j) / static_cast<double>(x.columns);
    for (std::size_t j = 0; j < x.columns; ++j) x(t, j) *= g(0, j) / std::sqrt(mean + 1e-5);
  }
  return x;
}

// silu(gate) o up: the gate says how much of each value of `up` passes.
Matrix gated(Matrix gate, const Matrix& up) {
  for (std::size_t i = 0; i < gate.values.size(); ++i) gate.values[i] *= up.values[i] / (1 + std::exp(-gate.values[i]));
  return gate;
}

struct SwiGlu {
  Matrix W_1, W_3, W_2;
  Matrix forward(const Matrix& x) const { return gated(x * W_1, x * W_3) * W_2; }
};

// Which head of keys and values a head of queries reads: neighbours share one.
std::size_t shared_head(std::size_t h, std::size_t heads, std::size_t kv_heads) {
  return h / (heads / kv_heads);
}

struct Heads {
  std::size_t of_queries, of_keys;
};

Matrix grouped_attention(const Matrix& Q, const Matrix& K, const Matrix& V, Heads heads) {
  const std::size_t d_k = Q.columns / heads.of_queries;
  const double scale = 1 / std::sqrt(static_cast<double>(d_k));
  Matrix Y(Q.rows, Q.columns);
  for (std::size_t h = 0; h < heads.of_queries; ++h) {
    const std::size_t s = shared_head(h, heads.of_queries, heads.of_keys);
    const Matrix k = head(K, s, heads.of_keys), v = head(V, s, heads.of_keys);
    set_head(Y, h, softmax(masked(scale * (head(Q, h, heads.of_queries) * transposed(k)))) * v);
  }
  return Y;
}

Matrix random_matrix(std::mt19937& random, std::size_t rows, std::size_t columns) {
  Matrix m(rows, columns);
  for (double& x : m.values) x = static_cast<double>(random()) / 4294967296.0 * 2 - 1;
  return m;
}

// --- the same by the engine ---

tril::Tensor uploaded(const tril::Context& c, const Matrix& m) {
  const std::vector<float> values(m.values.begin(), m.values.end());
  return c.upload<float>(values, {static_cast<std::int64_t>(m.rows), static_cast<std::int64_t>(m.columns)});
}

double difference(const Matrix& a, const tril::Tensor& b) {
  const std::vector<float> values = tril::host_copy<float>(b);
  tril::check(values.size() == a.values.size(), "since_2017", "the engine gave {} numbers, not {}", values.size(),
              a.values.size());
  double most = 0;
  for (std::size_t i = 0; i < values.size(); ++i)
    most = std::max(most, std::abs(a.values[i] - static_cast<double>(values[i])));
  return most;
}

struct Differences {
  double rotary, norm, gate, attention;
};

Differences from_engine(std::mt19937& random) {
  constexpr std::size_t tokens = 5, d_k = 4;
  constexpr Heads heads{8, 2};
  tril::Arena arena;
  tril::Context c(arena);
  const tril::Rows rows = tril::Rows::rectangle(1, tokens);
  const Matrix Q = random_matrix(random, tokens, heads.of_queries * d_k),
               K = random_matrix(random, tokens, heads.of_keys * d_k),
               V = random_matrix(random, tokens, heads.of_keys * d_k), x = random_matrix(random, tokens, d_k),
               g = random_matrix(random, 1, d_k), up = random_matrix(random, tokens, d_k);
  const tril::nn::RotaryPositions positions({.dim = d_k, .interleaved = true});
  const std::vector<float> gains(g.values.begin(), g.values.end());
  return {.rotary = difference(rotated(x, 0), tril::ops::rotary(c, uploaded(c, x), positions.rotation(c, rows), 1)),
          .norm = difference(rms_normed(x, g), tril::ops::rms_norm(c, uploaded(c, x), c.upload<float>(gains), 1e-5f)),
          .gate = difference(gated(x, up),
                             tril::ops::gated(c, tril::ops::Activation::silu, uploaded(c, x), uploaded(c, up))),
          .attention = difference(
              grouped_attention(Q, K, V, heads),
              tril::ops::attention(
                  c, {uploaded(c, Q), uploaded(c, K), uploaded(c, V)}, tril::ops::spans_of(rows, rows),
                  {.num_heads = heads.of_queries, .num_kv_heads = heads.of_keys, .mask = tril::ops::Mask::causal()}))};
}

int run() {
  std::mt19937 random(1);
  const Matrix q = random_matrix(random, 1, 4), k = random_matrix(random, 1, 4);
  fmt::print("one query and one key, rotated to their positions: their product\n");
  double least = 1e9, most = -1e9;
  for (const std::size_t p : {0u, 10u, 1000u}) {
    const double product = (rotated(q, p + 2) * transposed(rotated(k, p)))(0, 0);
    fmt::print("  {:>4} and {:>4}  {:.6f}\n", p + 2, p, product);
    least = std::min(least, product), most = std::max(most, product);
  }
  fmt::print("  not rotated    {:.6f}\n", (q * transposed(k))(0, 0));

  fmt::print("the head of keys that each of 8 heads of queries reads: ");
  for (std::size_t h = 0; h < 8; ++h) fmt::print(" {}", shared_head(h, 8, 2));

  constexpr std::size_t d = 24, four = 4 * d, two_thirds = 2 * four / 3;
  const SwiGlu f{random_matrix(random, d, two_thirds), random_matrix(random, d, two_thirds),
                 random_matrix(random, two_thirds, d)};
  const FeedForward relu(d, four);
  const auto values = [](auto&&... m) { return (m.values.size() + ...); };
  const std::size_t of_swiglu = values(f.W_1, f.W_3, f.W_2), of_relu = values(relu.first.W.value, relu.second.W.value);
  fmt::print("\nvalues of the matrices, d = {}: SwiGLU 3 x {} x {} = {}, ReLU 2 x {} x {} = {}\n", d, d, two_thirds,
             of_swiglu, d, four, of_relu);
  const Matrix y = f.forward(random_matrix(random, 3, d));
  fmt::print("SwiGLU of 3 tokens: {} x {}\n", y.rows, y.columns);

  const Differences e = from_engine(random);
  fmt::print("the engine differs by at most {:.0e} (rotary), {:.0e} (RMS norm), {:.0e} (gate), {:.0e} (grouped)\n",
             e.rotary, e.norm, e.gate, e.attention);
  return most - least < 1e-9 && of_swiglu == of_relu && std::max({e.rotary, e.norm, e.gate, e.attention}) < 1e-5 ? 0
                                                                                                                 : 1;
}

}  // namespace

int main() {
  try {
    return run();
  } catch (const tril::Error& error) {
    fmt::print(stderr, "since_2017: {}\n", error.what());
    return 1;
  }
}
