// Vectors of n values: every kernel on every table against one line of doubles.
#include <array>
#include <bit>
#include <functional>

#include "base/half.h"
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
    case Activation::relu_squared:
      return std::max(x, 0.0) * std::max(x, 0.0);
    case Activation::gelu:
      return x * 0.5 * std::erfc(-x / std::sqrt(2.0));
    case Activation::gelu_tanh:
      return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
    case Activation::silu:
      return x / (1 + std::exp(-x));
    case Activation::sigmoid:
      return 1 / (1 + std::exp(-x));
    case Activation::softplus:
      return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
    case Activation::exp_excess:
      return std::expm1(std::min(x, 0.0)) - std::min(x, 0.0);
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
      {"clamp", [](K k, P a, P, P, float* y, std::size_t n) { k.clamp(-0.5f, 0.75f, a, y, n); },
       [](double a, double, double, double, std::size_t) { return std::clamp(a, -0.5, 0.75); }},
      {"clamp_backward",
       [](K k, P a, P b, P, float* y, std::size_t n) { k.clamp_backward(-0.5f, 0.75f, a, b, y, false, n); },
       [](double a, double b, double, double, std::size_t) { return a >= -0.5 && a <= 0.75 ? b : 0; }},
      {"clamp_backward added",
       [](K k, P a, P b, P, float* y, std::size_t n) { k.clamp_backward(-0.5f, 0.75f, a, b, y, true, n); },
       [](double a, double b, double, double y, std::size_t) { return y + (a >= -0.5 && a <= 0.75 ? b : 0); }},
      {"softcap", [](K k, P a, P, P, float* y, std::size_t n) { k.softcap(1.5f, a, y, n); },
       [](double a, double, double, double, std::size_t) { return 1.5 * std::tanh(a / 1.5); }},
      {"softcap in place", [](K k, P, P, P, float* y, std::size_t n) { k.softcap(30.0f, y, y, n); },
       [](double, double, double, double y, std::size_t) { return 30 * std::tanh(y / 30); }},
      {"softcap_backward", [](K k, P a, P b, P, float* y, std::size_t n) { k.softcap_backward(9, a, b, y, false, n); },
       [](double a, double b, double, double, std::size_t) { return b * (1 - a * a / 81); }},
      {"softcap_backward added",
       [](K k, P a, P b, P, float* y, std::size_t n) { k.softcap_backward(9, a, b, y, true, n); },
       [](double a, double b, double, double y, std::size_t) { return y + b * (1 - a * a / 81); }},
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
        std::pair(Activation::gelu_tanh, "gelu_tanh"), std::pair(Activation::silu, "silu"),
        std::pair(Activation::relu_squared, "relu_squared"), std::pair(Activation::sigmoid, "sigmoid"),
        std::pair(Activation::softplus, "softplus"), std::pair(Activation::exp_excess, "exp_excess")}) {
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

TEST_P(Elementwise, SoftCapsFarOut) {
  for (const double x : {0.0, 1e-9, 1e-3, 0.1, 0.3249, 0.3251, 0.9, 3.0, 40.0, 1e4, HUGE_VAL})
    for (const float sign : {1.0f, -1.0f}) {
      const float given = sign * static_cast<float>(x);
      float y = 0, one = 1, dx = 0;
      k.softcap(0.5f, &given, &y, 1);
      k.softcap_backward(0.5f, &y, &one, &dx, false, 1);
      const double t = std::tanh(static_cast<double>(given) / 0.5);
      EXPECT_NEAR(y, 0.5 * t, 3e-7 * std::abs(0.5 * t)) << given;
      EXPECT_NEAR(dx, 1 - t * t, 5e-7) << given;
    }
  const float masked = -HUGE_VALF, one = 1;
  float dx = 1;
  k.softcap_backward(2, &masked, &one, &dx, false, 1);
  EXPECT_EQ(dx, 0);
  std::vector<float> x(37, NAN), y(37);
  k.softcap(2, x.data(), y.data(), x.size());
  for (const float v : y) EXPECT_TRUE(std::isnan(v));
}

TEST_P(Elementwise, DotProducts) {
  for (const std::size_t n : sizes())
    for (std::size_t slack = 0; slack < 4; ++slack) {
      Floats32 a(n, slack), b(n, slack ^ 1);
      fill_normal(a, n), fill_normal(b, n + 1);
      double expected = 0;
      for (std::size_t i = 0; i < n; ++i) expected += static_cast<double>(a[i]) * static_cast<double>(b[i]);
      EXPECT_NEAR(k.dot(a, b, n), expected, 1e-6 * std::sqrt(static_cast<double>(n + 1)));
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

TEST_P(Elementwise, BrainFloatsAreTheNearestOnesAndComeBackExactly) {
  for (const std::size_t n : sizes())
    for (std::size_t slack = 0; slack < 4; ++slack) {
      Floats32 x(n, slack), back(n, slack ^ 1);
      fill_normal(x, n);
      for (std::size_t i = 0; i < n; i += 7)  // ties, the largest float, NaN, and the smallest
        x[i] = std::bit_cast<float>(
            std::array<std::uint32_t, 5>{0x3f808000u, 0x3f818000u, 0x7f7fffffu, 0xff800001u, 1u}[i / 7 % 5]);
      Guarded<std::uint16_t> y(n, slack);
      k.round_bf16(x, y, n);
      k.widen_bf16(y, back, n);
      for (std::size_t i = 0; i < n; ++i) {
        ASSERT_EQ(y[i], f32_to_bf16(x[i])) << x[i];
        ASSERT_EQ(std::bit_cast<std::uint32_t>(back[i]), std::uint32_t{y[i]} << 16);
      }
      ASSERT_TRUE(y.intact() && back.intact());
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

TEST_P(Elementwise, LionMovesEveryValueByTheRate) {
  const Lion l{.lr = 0.01f, .beta1 = 0.9f, .beta2 = 0.98f, .decay = 0.1f, .gradient_scale = 0.5f};
  for (const std::size_t n : sizes())
    for (std::size_t slack = 0; slack < 4; ++slack) {
      Floats32 w(n, slack), m(n, slack ^ 1), g(n, slack ^ 2);
      fill_normal(w, 1);
      fill_normal(m, 2);
      fill_normal(g, 3);
      if (n > 1) m[1] = g[1] = 0;  // whose sign is 0
      std::vector<double> ew(n), em(n);
      for (std::size_t i = 0; i < n; ++i) {
        const double gi = 0.5 * g[i], c = 0.9 * m[i] + 0.1 * gi;
        ew[i] = (1 - 0.001) * w[i] - 0.01 * (c > 0 ? 1 : c < 0 ? -1 : 0);
        em[i] = 0.98 * m[i] + 0.02 * gi;
      }
      k.lion(l, w, m, g, n);
      expect_close(m, em, 4e-7, "m");
      expect_close(w, ew, 4e-7, "w");
    }
}

TEST_P(Elementwise, AdafactorOfAMatrixAndOfAVector) {
  const Adafactor a{.lr = 0.05f, .beta2 = 0.8f, .decay = 0.1f, .gradient_scale = 0.5f};
  const auto close = [](double got, double expected) {
    EXPECT_NEAR(got, expected, 2e-5 * (std::abs(expected) + 1e-3));
  };
  for (const std::size_t columns : {1u, 3u, 7u, 16u, 17u, 65u})
    for (const std::size_t rows : {1u, 2u, 5u, 33u})
      for (std::size_t slack = 0; slack < 4; ++slack) {
        const std::size_t n = rows * columns;
        Floats32 w(n, slack), g(n, slack ^ 1), r(rows, slack ^ 2), c(columns, slack ^ 3),
            scratch(rows + columns, slack);
        fill_normal(w, 1);
        fill_normal(g, 2);
        fill_normal(r, 3);
        fill_normal(c, 4);
        for (std::size_t i = 0; i < rows; ++i) r[i] = r[i] * r[i];
        for (std::size_t j = 0; j < columns; ++j) c[j] = c[j] * c[j];
        std::vector<double> er(rows), ec(columns), u(n), ew(n);
        for (std::size_t i = 0; i < rows; ++i) er[i] = 0.8 * r[i];
        for (std::size_t j = 0; j < columns; ++j) ec[j] = 0.8 * c[j];
        double mean = 0, squares = 0, squares_of_w = 0;
        for (std::size_t i = 0; i < n; ++i) {
          const double s = 0.25 * g[i] * g[i];
          er[i / columns] += 0.2 * s / static_cast<double>(columns);
          ec[i % columns] += 0.2 * s / static_cast<double>(rows);
        }
        for (double x : er) mean += x / static_cast<double>(rows);
        for (std::size_t i = 0; i < n; ++i) {
          u[i] = 0.5 * g[i] / std::sqrt(er[i / columns] * ec[i % columns] / mean);
          squares += u[i] * u[i];
          squares_of_w += static_cast<double>(w[i]) * w[i];
        }
        const double count = static_cast<double>(n);
        const auto alpha = [&](double of_u) {
          return 0.05 * std::max(1e-3, std::sqrt(squares_of_w / count)) / std::max(1.0, std::sqrt(of_u / count));
        };
        for (std::size_t i = 0; i < n; ++i) ew[i] = (1 - 0.005) * w[i] - alpha(squares) * u[i];
        k.adafactor_matrix(a, w, r, c, g, rows, columns, scratch);
        for (std::size_t i = 0; i < rows; ++i) close(r[i], er[i]);
        for (std::size_t j = 0; j < columns; ++j) close(c[j], ec[j]);
        for (std::size_t i = 0; i < n; ++i) close(w[i], ew[i]);

        Floats32 v(n, slack ^ 2);
        fill_normal(w, 5);
        fill_normal(g, 6);
        fill_normal(v, 7);
        squares = squares_of_w = 0;
        for (std::size_t i = 0; i < n; ++i) {
          v[i] = v[i] * v[i];
          u[i] = 0.5 * g[i] / std::sqrt(0.8 * v[i] + 0.2 * 0.25 * g[i] * g[i]);
          squares += u[i] * u[i];
          squares_of_w += static_cast<double>(w[i]) * w[i];
        }
        for (std::size_t i = 0; i < n; ++i) ew[i] = (1 - 0.005) * w[i] - alpha(squares) * u[i];
        k.adafactor_vector(a, w, v, g, n);
        for (std::size_t i = 0; i < n; ++i) close(w[i], ew[i]);
      }
}

TEST_P(Elementwise, NormalNoiseIsTheStreamsWhateverTheLength) {
  const RandomKey key = random_key(3, 4);
  for (const std::size_t n : sizes())
    for (std::size_t slack = 0; slack < 4; ++slack) {
      Floats32 y(n, slack);
      fill_normal(y, 1);
      std::vector<double> expected(n);
      for (std::size_t i = 0; i < n; ++i) {
        const auto uniform = [&](RandomKey of) {
          return ((random_bits(of, static_cast<std::uint32_t>(i)) >> 9) + 0.5) * 0x1p-23;
        };
        expected[i] =
            y[i] + 0.5 * std::sqrt(-2 * std::log(uniform(key))) * std::cos(6.283185307 * uniform(sub_key(key, 1)));
      }
      k.add_normal(key, 0.5f, y, n);
      expect_close(y, expected, 4e-6, "y");
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
