// Vectors of n values: every kernel on every table against one line of doubles.
#include <functional>

#include "kern/support.h"

namespace tril::kern {
namespace {

constexpr Dropout drop{.p = 0.3f, .key = {0x12345678u, 0x9abcdef0u}};

double value_of(Activation f, double x) {
  switch (f) {
    case Activation::none:
      return x;
    case Activation::relu:
      return std::max(x, 0.0);
    case Activation::gelu:
      return x * 0.5 * std::erfc(-x / std::sqrt(2.0));
    case Activation::gelu_tanh:
      return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
    case Activation::silu:
      return x / (1 + std::exp(-x));
  }
  return 0;
}

double slope_of(Activation f, double x) {
  const double h = 1e-5;
  return (value_of(f, x + h) - value_of(f, x - h)) / (2 * h);
}

double dropped(double x, std::size_t i) {
  const bool keep = random_bits(drop.key, static_cast<std::uint32_t>(i)) >= dropout_threshold(drop.p);
  return keep ? x / (1 - static_cast<double>(drop.p)) : 0;
}

/// y from the inputs a, b, c and y's former value.
struct Map {
  std::string name;
  std::function<void(const Kernels&, const float*, const float*, const float*, float*, std::size_t)> run;
  std::function<double(double a, double b, double c, double y, std::size_t i)> twin;
  double tolerance = 4e-7;
};

std::vector<Map> maps() {
  using K = const Kernels&;
  using P = const float*;
  std::vector<Map> all = {
      {"add", [](K k, P a, P b, P, float* y, std::size_t n) { k.add(a, b, y, n); },
       [](double a, double b, double, double, std::size_t) { return a + b; }},
      {"axpy", [](K k, P a, P, P, float* y, std::size_t n) { k.axpy(1.5f, a, y, n); },
       [](double a, double, double, double y, std::size_t) { return y + 1.5 * a; }},
      {"scale", [](K k, P a, P, P, float* y, std::size_t n) { k.scale(-2.5f, a, y, n); },
       [](double a, double, double, double, std::size_t) { return -2.5 * a; }},
      {"fill", [](K k, P, P, P, float* y, std::size_t n) { k.fill(3.25f, y, n); },
       [](double, double, double, double, std::size_t) { return 3.25; }},
      {"dropout", [](K k, P a, P, P, float* y, std::size_t n) { k.dropout(drop, a, y, n); },
       [](double a, double, double, double, std::size_t i) { return dropped(a, i); }},
      {"dropout of nothing", [](K k, P a, P, P, float* y, std::size_t n) { k.dropout(Dropout{}, a, y, n); },
       [](double a, double, double, double, std::size_t) { return a; }, 0},
      {"add_dropout", [](K k, P a, P b, P, float* y, std::size_t n) { k.add_dropout(drop, a, b, y, n); },
       [](double a, double b, double, double, std::size_t i) { return a + dropped(b, i); }},
      {"axpy_dropout", [](K k, P a, P, P, float* y, std::size_t n) { k.axpy_dropout(drop, a, y, n); },
       [](double a, double, double, double y, std::size_t i) { return y + dropped(a, i); }},
  };
  for (const auto& [f, name] :
       {std::pair(Activation::none, "none"), std::pair(Activation::relu, "relu"), std::pair(Activation::gelu, "gelu"),
        std::pair(Activation::gelu_tanh, "gelu_tanh"), std::pair(Activation::silu, "silu")}) {
    const std::string of = std::string(" ") + name;
    const Activation g = f;
    all.push_back({"activate" + of, [g](K k, P a, P, P, float* y, std::size_t n) { k.activate(g, a, y, n); },
                   [g](double a, double, double, double, std::size_t) { return value_of(g, a); }});
    all.push_back({"activate in place" + of, [g](K k, P, P, P, float* y, std::size_t n) { k.activate(g, y, y, n); },
                   [g](double, double, double, double y, std::size_t) { return value_of(g, y); }});
    all.push_back({"gated" + of, [g](K k, P a, P b, P, float* y, std::size_t n) { k.gated(g, a, b, y, n); },
                   [g](double a, double b, double, double, std::size_t) { return value_of(g, a) * b; }});
    for (const bool accumulate : {false, true}) {
      const std::string added = accumulate ? ", added" : "";
      all.push_back({"activate_backward" + of + added,
                     [g, accumulate](K k, P a, P b, P, float* y, std::size_t n) {
                       k.activate_backward(g, a, b, y, accumulate, n);
                     },
                     [g, accumulate](double a, double b, double, double y, std::size_t) {
                       return b * slope_of(g, a) + (accumulate ? y : 0);
                     },
                     2e-6});
      all.push_back({"gated_backward's d_gate" + of + added,
                     [g, accumulate](K k, P a, P b, P c, float* y, std::size_t n) {
                       std::vector<float> up(n);
                       k.gated_backward(g, a, b, c, y, up.data(), accumulate, n);
                     },
                     [g, accumulate](double a, double b, double c, double y, std::size_t) {
                       return c * b * slope_of(g, a) + (accumulate ? y : 0);
                     },
                     2e-6});
      all.push_back({"gated_backward's d_up" + of + added,
                     [g, accumulate](K k, P a, P b, P c, float* y, std::size_t n) {
                       std::vector<float> gate(n);
                       k.gated_backward(g, a, b, c, gate.data(), y, accumulate, n);
                     },
                     [g, accumulate](double a, double, double c, double y, std::size_t) {
                       return c * value_of(g, a) + (accumulate ? y : 0);
                     }});
    }
  }
  return all;
}

using Elementwise = KernelTest;

TEST_P(Elementwise, EqualsItsTwin) {
  const auto cases = maps();
  for (const std::size_t n : sizes())
    for (std::size_t slack = 0; slack < 4; ++slack) {
      Floats32 a(n, slack), b(n, (slack + 1) % 4), c(n, (slack + 2) % 4);
      fill_normal(a, 1, 2);
      fill_normal(b, 2);
      fill_normal(c, 3);
      for (const Map& m : cases) {
        Floats32 y(n, slack ^ 1);
        fill_normal(y, 4, 2);
        std::vector<double> expected(n);
        for (std::size_t i = 0; i < n; ++i) expected[i] = m.twin(a[i], b[i], c[i], y[i], i);
        m.run(k, a, b, c, y, n);
        expect_close(y, expected, m.tolerance, m.name);
        if (HasFatalFailure()) return;
      }
    }
}

TEST_P(Elementwise, ActivationsFarOut) {
  for (const auto f : {Activation::relu, Activation::gelu, Activation::gelu_tanh, Activation::silu})
    for (const float x : {0.0f, -0.0f, 1e-6f, -1e-6f, 5.5f, -5.5f, 14.0f, -14.0f, 90.0f, -90.0f, 1e4f, -1e4f}) {
      float y = 0, dy = 1, dx = 0;
      k.activate(f, &x, &y, 1);
      k.activate_backward(f, &x, &dy, &dx, /*accumulate=*/false, 1);
      EXPECT_NEAR(y, value_of(f, x), 1e-6 * std::max(1.0f, std::abs(x))) << x;
      if (x == 0) continue;
      const double slope = std::abs(x) > 20 ? (x > 0 ? 1.0 : 0.0) : slope_of(f, x);
      const bool near_kink = f == Activation::relu && std::abs(x) < 1e-4;  // the finite difference spans it
      EXPECT_NEAR(dx, near_kink ? (x > 0 ? 1.0 : 0.0) : slope, 2e-6) << x;
    }
}

TEST_P(Elementwise, NanStaysNan) {
  for (const auto f : {Activation::none, Activation::relu, Activation::gelu, Activation::gelu_tanh, Activation::silu}) {
    std::vector<float> x(37, NAN), y(37);
    k.activate(f, x.data(), y.data(), x.size());
    for (const float v : y) EXPECT_TRUE(std::isnan(v)) << static_cast<int>(f);
  }
}

TEST_P(Elementwise, SumOfSquares) {
  for (const std::size_t n : sizes())
    for (std::size_t slack = 0; slack < 4; ++slack) {
      Floats32 x(n, slack);
      fill_normal(x, n, 100);
      double expected = 0;
      for (std::size_t i = 0; i < n; ++i) expected += static_cast<double>(x[i]) * static_cast<double>(x[i]);
      EXPECT_NEAR(k.sum_squares(x, n), expected, 1e-12 * expected);
    }
}

TEST_P(Elementwise, AdamTakesTheStepOfThePaper) {
  const Adam adam_w{.lr = 0.01f,
                    .beta2 = 0.98f,
                    .eps = 1e-8f,
                    .decoupled_decay = 0.1f,
                    .bias1 = 0.19f,
                    .bias2 = 0.0396f,
                    .gradient_scale = 0.5f};
  const Adam adam_l2{.lr = 0.01f, .l2 = 0.01f, .bias1 = 0.1f, .bias2 = 0.001f};
  for (const Adam& a : {adam_w, adam_l2})
    for (const std::size_t n : sizes())
      for (std::size_t slack = 0; slack < 4; ++slack) {
        Floats32 w(n, slack), m(n, slack ^ 1), v(n, slack ^ 2), g(n, slack ^ 3);
        fill_normal(w, 1);
        fill_normal(m, 2);
        fill_normal(v, 3);
        fill_normal(g, 4);
        std::vector<double> ew(n), em(n), ev(n);
        for (std::size_t i = 0; i < n; ++i) {
          v[i] = v[i] * v[i];
          const double gi = static_cast<double>(g[i]) * a.gradient_scale + static_cast<double>(a.l2) * w[i];
          em[i] = static_cast<double>(a.beta1) * m[i] + (1 - static_cast<double>(a.beta1)) * gi;
          ev[i] = static_cast<double>(a.beta2) * v[i] + (1 - static_cast<double>(a.beta2)) * gi * gi;
          ew[i] = w[i] - static_cast<double>(a.lr) * (em[i] / a.bias1) / (std::sqrt(ev[i] / a.bias2) + a.eps) -
                  static_cast<double>(a.lr) * a.decoupled_decay * w[i];
        }
        k.adam(a, w, m, v, g, n);
        expect_close(m, em, 4e-7, "m");
        expect_close(v, ev, 4e-7, "v");
        expect_close(w, ew, 4e-7, "w");
      }
}

INSTANTIATE_TEST_SUITE_P(Kernels, Elementwise, every_table(), table_name);

TEST(Tables, AreFoundByName) {
  EXPECT_EQ(table("generic"), tables().front());
  EXPECT_EQ(&best(), tables().back());
  EXPECT_EQ(table("mmx"), nullptr);
  for (const Kernels* t : tables()) EXPECT_EQ(table(t->name), t);
}

}  // namespace
}  // namespace tril::kern
