// The gradients of a linear map in mixed precision on every table, against loops in double over individually rounded
// operands.
#include "kern/linear_gradient.h"

#include <fmt/format.h>

#include "base/half.h"
#include "kern/support.h"

namespace tril::kern::linear_gradient_test {
namespace {

class LinearGradientTest : public KernelTest {};
INSTANTIATE_TEST_SUITE_P(Tables, LinearGradientTest, every_table(), table_name);

double rounded(double x) {
  return bf16_to_f32(f32_to_bf16(static_cast<float>(x)));
}

struct Case {
  std::size_t tokens, out, in;
  Activation activation = Activation::none;
  float p = 0;
  bool add = false;
  bool only_w = false, only_x = false;
};

double slope(Activation f, double z) {
  if (f == Activation::relu) return z > 0 ? 1 : 0;
  const double s = 1 / (1 + std::exp(-z));
  return f == Activation::silu ? s * (1 + z * (1 - s)) : 1;
}

TEST_P(LinearGradientTest, EqualsItsTwin) {
  const std::vector<Case> cases{
      {1, 1, 1},
      {3, 17, 5},
      {32, 32, 32},
      {40, 33, 31, Activation::relu, 0, true},
      {70, 64, 40, Activation::silu, 0.25f},
      {300, 20, 33, Activation::none, 0.5f, true},
      {515, 40, 17, Activation::relu, 0.1f},
      {1030, 5, 3, Activation::none, 0.1f, true},
      {64, 48, 16, Activation::none, 0, false, true, false},
      {64, 48, 16, Activation::none, 0.1f, false, false, true},
      {0, 4, 3},
      {0, 4, 3, Activation::none, 0, true},
  };
  std::size_t slack = 0;
  for (const Case& c : cases) {
    ++slack;
    const std::string name = fmt::format("{} tokens, {} from {}", c.tokens, c.out, c.in);
    const std::size_t wider = 3, stride = c.in + wider, n = c.tokens ? c.tokens * stride - wider : 0;
    Floats32 dy(c.tokens * c.out, slack % 4), saved(c.tokens * c.out, 1), x(n, slack % 3), w(c.out * c.in),
        db(c.out, 2), dw(c.out * c.in, 3), dx(n, 1);
    std::uint64_t stream = 0;
    for (Floats32* each : {&dy, &saved, &x, &w, &db, &dw, &dx}) fill_normal(*each, ++stream);
    const Dropout drop{c.p, random_key(3, 4)};

    std::vector<double> dz(dy.size()), db_twin(c.out), dw_twin(dw.size()), dx_twin(dx.data(), dx.data() + dx.size());
    for (std::size_t j = 0; j < c.out; ++j) db_twin[j] = db[j];
    for (std::size_t i = 0; i < dw.size() && c.add; ++i) dw_twin[i] = dw[i];
    for (std::size_t i = 0; i < c.tokens; ++i) {
      const RandomKey key = sub_key(drop.key, i / linear_dropout_rows);
      for (std::size_t j = 0; j < c.out; ++j) {
        const std::size_t at = i * c.out + j;
        const auto index = static_cast<std::uint32_t>(i % linear_dropout_rows * c.out + j);
        const bool dropped = c.p > 0 && random_bits(key, index) < dropout_threshold(c.p);
        const double exact =
            dropped ? 0 : dy[at] / (1 - static_cast<double>(c.p)) * slope(c.activation, static_cast<double>(saved[at]));
        db_twin[j] += exact;
        dz[at] = rounded(exact);
      }
    }
    for (std::size_t j = 0; j < c.out; ++j)
      for (std::size_t col = 0; col < c.in; ++col)
        for (std::size_t i = 0; i < c.tokens; ++i)
          dw_twin[j * c.in + col] += dz[i * c.out + j] * rounded(x[i * stride + col]);
    for (std::size_t i = 0; i < c.tokens; ++i)
      for (std::size_t col = 0; col < c.in; ++col) {
        double sum = c.add ? dx[i * stride + col] : 0;
        for (std::size_t j = 0; j < c.out; ++j) sum += dz[i * c.out + j] * rounded(w[j * c.in + col]);
        dx_twin[i * stride + col] = sum;
      }

    std::vector<std::uint16_t> packed(packed_right_values(c.out, c.in)),
        scratch(linear_gradient_scratch(c.tokens, c.out, c.in));
    k.pack_right({.b = w, .stride = c.in, .k = c.out, .n = c.in, .packed = packed.data()});
    LinearGradient g{
        .tokens = c.tokens, .out = c.out, .in = c.in, .dy = dy, .dropout = drop, .activation = c.activation};
    if (c.activation != Activation::none) g.saved = saved;
    g.x = x, g.x_stride = stride, g.w = packed.data();
    g.db = db;
    if (!c.only_x) g.dw = dw, g.add_dw = c.add;
    if (!c.only_w) g.dx = dx, g.dx_stride = stride, g.add_dx = c.add;
    g.stream_dx = c.tokens % 2 == 0;
    g.scratch = scratch.data();
    const std::vector<float> dx_before = dx.copy(), dw_before = dw.copy();
    k.linear_gradient(g);

    // A value next to the middle of two bfloat16 may be rounded either way.
    const double size = std::sqrt(static_cast<double>(std::max(c.tokens, c.out)) + 1);
    expect_close(db, db_twin, 1e-5 * size, name + ": db");
    if (c.only_x)
      EXPECT_EQ(dw.copy(), dw_before);
    else
      expect_close(dw, dw_twin, 1e-3 * size, name + ": dW");
    if (c.only_w)
      EXPECT_EQ(dx.copy(), dx_before);
    else
      expect_close(dx, dx_twin, 1e-3 * size, name + ": dx");
  }
}

}  // namespace
}  // namespace tril::kern::linear_gradient_test
