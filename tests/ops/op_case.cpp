#include "support/op_case.h"

#include "kern/gemm_bf16.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <numbers>

namespace tril::test {
namespace {

enum class Layout { dense, misaligned, columns };

constexpr std::int64_t left = 3, right = 2;  // columns of the wider matrix on either side of the input's

Tensor place(Context& c, const std::vector<float>& values, const Shape& shape, Layout layout) {
  if (layout == Layout::misaligned) {
    const auto memory = std::make_shared<std::vector<float>>(values.size() + 32);
    float* at = memory->data();
    while (reinterpret_cast<std::uintptr_t>(at) % 64 != 4) ++at;
    if (!values.empty()) std::memcpy(at, values.data(), values.size() * sizeof(float));
    return foreign_tensor(reinterpret_cast<std::byte*>(at), shape, DType::f32, memory);
  }
  if (layout == Layout::columns) {
    const std::int64_t width = left + shape[1] + right;
    std::vector<float> wide(static_cast<std::size_t>(shape[0] * width), 1e30f);  // any read of it will be noticed
    for (std::int64_t i = 0; i < shape[0]; ++i)
      for (std::int64_t j = 0; j < shape[1]; ++j)
        wide[static_cast<std::size_t>(i * width + left + j)] = values[static_cast<std::size_t>(i * shape[1] + j)];
    return c.upload<float>(wide, {shape[0], width}).columns(left, left + shape[1]);
  }
  return c.upload<float>(values, shape);
}

void expect_near(const std::vector<float>& got, const Doubles& expected, double tolerance, bool by_largest,
                 const std::string& what) {
  ASSERT_EQ(got.size(), expected.size()) << what;
  double largest = 0, worst = 0;
  for (double e : expected) largest = std::max(largest, std::abs(e));
  std::size_t worst_at = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double excess = std::abs(static_cast<double>(got[i]) - expected[i]) /
                          (tolerance * (1 + (by_largest ? largest : std::abs(expected[i]))));
    if (!(excess <= worst)) worst = excess, worst_at = i;
    if (std::isnan(excess)) break;
  }
  EXPECT_LE(worst, 1.0) << what << " [" << worst_at << "] is " << (got.empty() ? 0 : got[worst_at]) << ", expected "
                        << (got.empty() ? 0 : expected[worst_at]);
}

struct Expected {
  Doubles value;
  std::vector<float> dy;
  std::vector<std::vector<std::size_t>> probed;  // by input: the indices of its probed values
  std::vector<Doubles> gradients;                // by input, of the probed values
};

// Central differences: with doubles and a step of 1e-5 the error is about 1e-10 of the third derivative.
Expected expected_of(const OpCase& op, const std::vector<std::vector<float>>& inputs) {
  constexpr double step = 1e-5;
  constexpr std::size_t most = 40;
  std::vector<Doubles> x;
  for (const auto& values : inputs) x.emplace_back(values.begin(), values.end());
  Expected e;
  e.value = op.reference(x);
  e.dy = normal_values(static_cast<std::int64_t>(e.value.size()), 99);
  const auto scalar = [&] {
    const Doubles y = op.reference(x);
    double sum = 0;
    for (std::size_t i = 0; i < y.size(); ++i) sum += y[i] * static_cast<double>(e.dy[i]);
    return sum;
  };
  for (std::size_t k = 0; k < x.size(); ++k) {
    RandomSequence random(11, k);
    std::vector<std::size_t> probed;
    Doubles gradient;
    const std::size_t n = x[k].size(), count = std::min(n, most);
    for (std::size_t s = 0; s < count; ++s) {
      const std::size_t i = n <= most ? s : random.below(n);
      const double before = x[k][i];
      x[k][i] = before + step;
      const double up = scalar();
      x[k][i] = before - step;
      const double down = scalar();
      x[k][i] = before;
      probed.push_back(i);
      gradient.push_back((up - down) / (2 * step));
    }
    e.probed.push_back(probed);
    e.gradients.push_back(gradient);
  }
  return e;
}

struct Asked {
  const OpCase& op;
  const Expected& expected;
  Context& c;
  std::vector<Tensor> x;

  Tensor run() {
    c.set_rng(Rng(op_seed));
    return op.run(c, x);
  }

  // Gradients by input, if wanted; with `twice`, those of y + y computed by two calls.
  std::vector<std::vector<float>> gradients(const std::vector<std::size_t>& wanted, bool twice,
                                            std::vector<float>* value = nullptr) {
    Tape tape;
    Grads grads;
    for (std::size_t k : wanted) tape.watch(x[k]);
    c.set_tape(&tape);
    Tensor y = run();
    if (value) *value = host_copy<float>(y);
    if (twice) y = ops::add(c, y, run());
    tape.backward(c, y, c.upload<float>(expected.dy, y.shape()), grads);
    c.set_tape(nullptr);
    EXPECT_EQ(tape.size(), 0u);
    std::vector<std::vector<float>> found;
    for (std::size_t k : wanted) {
      const Tensor g = grads.get(x[k]);
      EXPECT_TRUE(g) << "no gradient for input " << k;
      found.push_back(g ? host_copy<float>(g) : std::vector<float>());
      if (g && !x[k].covers_storage() && x[k].count() > 0) {  // outside of its columns everything must be zero
        double outside = 0, inside = 0;
        const std::int64_t width = x[k].row_stride();
        const std::vector<float> all = host_copy<float>(whole(g, x[k].size(0), width));
        for (float v : all) outside += std::abs(static_cast<double>(v));
        for (float v : found.back()) inside += std::abs(static_cast<double>(v));
        EXPECT_NEAR(outside, inside, 1e-6 * (1 + inside)) << "input " << k << ": gradient outside its columns";
      }
    }
    return found;
  }

  // The wider matrix that g is `left` columns into.
  static Tensor whole(Tensor g, std::int64_t rows, std::int64_t width) {
    float* const begin = g.data<float>() - left;
    return foreign_tensor(reinterpret_cast<std::byte*>(begin), {rows, width}, DType::f32, std::make_shared<Tensor>(g));
  }
};

void ask(const OpCase& op, const Expected& e, const kern::Kernels& kernels, Layout layout,
         const std::vector<std::vector<float>>& inputs) {
  Arena arena;
  Context c(arena, kernels);
  c.set_training(op.training);
  Asked a{op, e, c, {}};
  std::vector<std::size_t> all;
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    const bool wide = std::find(op.columns.begin(), op.columns.end(), k) != op.columns.end();
    a.x.push_back(place(c, inputs[k], op.shapes[k], layout == Layout::columns && !wide ? Layout::dense : layout));
    all.push_back(k);
  }
  const std::vector<float> value = host_copy<float>(a.run());
  expect_near(value, e.value, op.tolerance, false, "value");
  std::vector<float> taped;
  const auto gradients = a.gradients(all, false, &taped);
  EXPECT_TRUE(value.empty() || std::memcmp(value.data(), taped.data(), value.size() * sizeof(float)) == 0)
      << "a tape changes the value";
  const auto doubled = a.gradients(all, true);
  for (std::size_t k : all) {
    std::vector<float> probed;
    for (std::size_t i : e.probed[k]) probed.push_back(gradients[k].at(i));
    expect_near(probed, e.gradients[k], op.gradient_tolerance, true, "gradient of input " + std::to_string(k));
    Doubles two;
    for (float g : gradients[k]) two.push_back(2 * static_cast<double>(g));
    expect_near(doubled[k], two, 1e-5, true, "gradient of input " + std::to_string(k) + " used twice");
    const auto alone = a.gradients({k}, false);
    expect_near(alone[0], Doubles(gradients[k].begin(), gradients[k].end()), 1e-6, true,
                "gradient of input " + std::to_string(k) + " wanted alone");
  }
  for (std::size_t k : all) {  // no op writes into its inputs
    const std::vector<float> after = host_copy<float>(a.x[k]);
    EXPECT_EQ(after, inputs[k]) << "input " << k << " was changed";
  }
}

}  // namespace

ops::Weight mixed(Context& c, const Tensor& w) {
  const auto out = static_cast<std::size_t>(w.size(0)), in = static_cast<std::size_t>(w.size(1));
  const auto packed = [&](std::size_t k, std::size_t n, bool transposed) {
    Tensor p = c.empty({static_cast<std::int64_t>(kern::packed_right_values(k, n))}, DType::bf16);
    c.kernels().pack_right({.b = w.data<float>(),
                            .stride = in,
                            .k = k,
                            .n = n,
                            .transposed = transposed,
                            .packed = p.data<std::uint16_t>()});
    return p;
  };
  return {w, {}, packed(in, out, true), packed(out, in, false)};
}

std::vector<float> normal_values(std::int64_t count, std::uint64_t stream) {
  RandomSequence random(3, stream);
  std::vector<float> v(static_cast<std::size_t>(count));
  for (float& x : v) x = static_cast<float>(random.normal());
  return v;
}

double activation(ops::Activation f, double x) {
  using enum ops::Activation;
  switch (f) {
    case none:
      return x;
    case relu:
      return std::max(x, 0.0);
    case relu_squared:
      return std::max(x, 0.0) * std::max(x, 0.0);
    case gelu:
      return x * 0.5 * (1 + std::erf(x / std::numbers::sqrt2));
    case gelu_tanh:
      return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
    case silu:
      return x / (1 + std::exp(-x));
    case sigmoid:
      return 1 / (1 + std::exp(-x));
    case softplus:
      return std::log1p(std::exp(x));
    case exp_excess:
      return std::expm1(std::min(x, 0.0)) - std::min(x, 0.0);
  }
  return 0;
}

void check_op(const OpCase& op) {
  SCOPED_TRACE(op.name);
  std::vector<std::vector<float>> inputs;
  for (std::size_t k = 0; k < op.shapes.size(); ++k) inputs.push_back(normal_values(op.shapes[k].count(), k));
  const Expected e = expected_of(op, inputs);
  for (const kern::Kernels* kernels : kern::tables()) {
    SCOPED_TRACE(kernels->name);
    {
      SCOPED_TRACE("dense");
      ask(op, e, *kernels, Layout::dense, inputs);
    }
    {
      SCOPED_TRACE("misaligned");
      ask(op, e, *kernels, Layout::misaligned, inputs);
    }
    if (!op.columns.empty()) {
      SCOPED_TRACE("columns");
      ask(op, e, *kernels, Layout::columns, inputs);
    }
  }
}

void expect_error(const std::function<void()>& f, const std::string& part) {
  try {
    f();
    ADD_FAILURE() << "no Error; expected one with: " << part;
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << "the Error says: " << e.what();
  }
}

}  // namespace tril::test
