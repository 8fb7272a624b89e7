// cross_entropy, also fused with its projection, log-probabilities of targets, and what losses refuse.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>

#include "ops/losses.h"

namespace tril::test::loss_test {
namespace {

TEST(CrossEntropy, OfLogits) {
  for (const Setting& s : settings)
    check_op({.name = fmt::format("cross_entropy N {} V {} smoothing {}", s.N, s.V, s.smoothing),
              .shapes = {{s.N, s.V}},
              .run =
                  [s](Context& c, std::span<const Tensor> x) {
                    return ops::cross_entropy(c, x[0], c.upload(some_targets(s.N, s.V, s.ignore)), options_of(c, s));
                  },
              .reference = [s](std::span<const Doubles> x) { return loss_in_double(s, x[0]); }});
}

// Inputs: x [N, D], W [V, D], and b [V] if present.
OpCase projected_case(const Setting& s, std::int64_t D, bool bias, bool in_bf16 = false) {
  return {.name = fmt::format("projected_cross_entropy N {} V {} D {} bias {} mixed {}", s.N, s.V, D, bias, in_bf16),
          .shapes = bias ? std::vector<Shape>{{s.N, D}, {s.V, D}, {s.V}} : std::vector<Shape>{{s.N, D}, {s.V, D}},
          .run =
              [=](Context& c, std::span<const Tensor> x) {
                return ops::projected_cross_entropy(c,
                                                    {x[0], weight_of_output(c, x[1], in_bf16), bias ? x[2] : Tensor()},
                                                    c.upload(some_targets(s.N, s.V, s.ignore)), options_of(c, s));
              },
          .reference =
              [=](std::span<const Doubles> x) {
                return loss_in_double(s, logits_in_double(x[0], x[1], bias ? x[2] : Doubles(), s.N, s.V, D, s.softcap));
              },
          .tolerance = in_bf16 ? 1e-2 : 1e-5,
          .gradient_tolerance = in_bf16 ? gradient_rounding(s, D) : 5e-5};
}

TEST(CrossEntropy, FusedWithTheProjection) {
  for (const Setting& s : settings)
    for (bool bias : {false, true})
      if (s.V < 100) check_op(projected_case(s, 5, bias));
  check_op(projected_case({.N = 130, .V = 5, .smoothing = 0.1f, .ignore = 2}, 3, true));  // a chunk and two rows
  check_op(projected_case({.N = 256, .V = 3}, 2, false));                                 // two whole chunks
}

TEST(CrossEntropy, FusedInMixedPrecision) {
  for (const Setting& s : settings)
    for (bool bias : {false, true})
      if (s.V < 100) check_op(projected_case(s, 5, bias, true));
  // Beyond a tile, a panel, a strip, a group of columns, and the rows packed at a time.
  check_op(projected_case({.N = 40, .V = 70, .smoothing = 0.1f, .ignore = 3}, 33, true, true));
  check_op(projected_case({.N = 33, .V = 300, .smoothing = 0.1f}, 3, false, true));
  check_op(projected_case({.N = 3, .V = 5}, 300, false, true));  // deeper than one block of a product
  check_op(projected_case({.N = 1100, .V = 40, .smoothing = 0.1f, .ignore = 2}, 2, true, true));
  check_op(projected_case({.N = 33, .V = 300, .smoothing = 0.1f, .softcap = 3}, 3, true, true));
}

// Whole blocks of dx and dW that accumulate, over several groups of words and of rows.
TEST(CrossEntropy, FusedInMixedPrecisionWholeBlocks) {
  check_op(projected_case({.N = 513, .V = 257, .smoothing = 0.1f}, 32, false, true));
}

// Logits of row i and word v: slope_v i + bias_v, exact in bfloat16, so that different words of a row come near the
// limit of float32.
struct FarApart {
  std::string name;
  std::function<float(std::int64_t)> slope, bias;
};

TEST(CrossEntropy, FusedInMixedPrecisionWithLogitsFarApart) {
  const std::int64_t N = 40, D = 3, V = 420;
  const auto none = [](std::int64_t) { return 0.0f; };
  const std::vector<FarApart> cases{
      {"rising", none, [](std::int64_t v) { return static_cast<float>(v); }},
      {"falling", none, [](std::int64_t v) { return -static_cast<float>(v); }},
      {"one far beyond", none, [](std::int64_t v) { return v == 200 ? 5007.0f : 0.0f; }},
      {"behind groups of nothing", none, [](std::int64_t v) { return v < 290 ? -1e30f : 0.0f; }},
      {"behind other groups of nothing", none, [](std::int64_t v) { return v < 290 ? -1e29f : 0.0f; }},
      {"behind the lowest", none, [](std::int64_t v) { return v < 290 ? -std::numeric_limits<float>::max() : 0.0f; }},
      {"beyond e's range from each other", none, [](std::int64_t v) { return static_cast<float>(v % 2) * 80; }},
      // What was summed before a shift still counts: 128 words at 40 beside as many at 45, and some at 0.
      {"a sum that is carried on", none,
       [](std::int64_t v) {
         return v < 128 ? 0.0f : v < 256 ? 40.0f : v < 384 ? 45.0f : 44.0f;
       }},
      {"rows apart", [](std::int64_t v) { return static_cast<float>(v / 100); }, none},
      {"rows apart, downwards", [](std::int64_t v) { return static_cast<float>(4 - v / 100); }, none}};
  for (const kern::Kernels* kernels : kern::tables())
    for (const FarApart& k : cases)
      for (const float smoothing : {0.0f, 0.1f}) {
        if (smoothing > 0 && k.bias(0) < -1e20f) continue;  // the mean over all words would hide the effect
        SCOPED_TRACE(k.name + " on " + std::string(kernels->name));
        const Setting s{.N = N, .V = V, .smoothing = smoothing};
        Arena arena;
        Context c(arena, *kernels);
        std::vector<float> xs(static_cast<std::size_t>(N * D)), ws(static_cast<std::size_t>(V * D)), bs;
        for (std::int64_t i = 0; i < N; ++i) xs[static_cast<std::size_t>(i * D)] = static_cast<float>(i);
        for (std::int64_t v = 0; v < V; ++v) {
          ws[static_cast<std::size_t>(v * D)] = k.slope(v);
          bs.push_back(k.bias(v));
        }
        auto targets = some_targets(N, V, s.ignore);
        for (std::int32_t& t : targets)
          if (t >= 0 && k.bias(t) < -1e20f) t = static_cast<std::int32_t>(V - 1);
        const Tensor x = c.upload<float>(xs, {N, D}), w = c.upload<float>(ws, {V, D}), b = c.upload(bs);
        Tape tape;
        Grads grads;
        for (const Tensor& t : {x, w, b}) tape.watch(t);
        c.set_tape(&tape);
        const Tensor y = ops::projected_cross_entropy(c, {x, mixed(c, w), b}, c.upload(targets), options_of(c, s));
        tape.backward(c, y, c.upload<float>({1.0f}), grads);
        c.set_tape(nullptr);

        const Doubles logits = logits_in_double(Doubles(xs.begin(), xs.end()), Doubles(ws.begin(), ws.end()),
                                                Doubles(bs.begin(), bs.end()), N, V, D);
        const double rows = static_cast<double>(std::ranges::count_if(targets, [&](auto t) { return t != s.ignore; }));
        const double eps = static_cast<double>(smoothing);
        double loss = 0;
        Doubles db(static_cast<std::size_t>(V)), dx(static_cast<std::size_t>(N));
        for (std::int64_t i = 0; i < N; ++i) {
          const std::int32_t t = targets[static_cast<std::size_t>(i)];
          if (t == s.ignore) continue;
          const Doubles lp = log_softmax(logits, i, V);
          for (std::int64_t v = 0; v < V; ++v) {
            const auto at_v = static_cast<std::size_t>(v);
            const double wanted = (v == t ? 1 - eps : 0) + eps / static_cast<double>(V);
            if (wanted > 0) loss -= wanted * lp[at_v] / rows;
            const double dz = (std::exp(lp[at_v]) - wanted) / rows;
            db[at_v] += dz;
            dx[static_cast<std::size_t>(i)] += dz * static_cast<double>(k.slope(v));
          }
        }
        EXPECT_NEAR(static_cast<double>(host_copy<float>(y)[0]), loss, 1e-5 + 2e-6 * std::abs(loss));
        const auto got_b = host_copy<float>(grads.get(b)), got_x = host_copy<float>(grads.get(x));
        for (std::size_t v = 0; v < db.size(); ++v) EXPECT_NEAR(static_cast<double>(got_b[v]), db[v], 1e-5) << v;
        for (std::size_t i = 0; i < dx.size(); ++i)
          EXPECT_NEAR(static_cast<double>(got_x[i * static_cast<std::size_t>(D)]), dx[i], 2e-3) << i;
      }
}

TEST(CrossEntropy, FusedEqualsTheTwoOps) {
  for (std::int64_t N : {7, 127, 128, 129, 300}) {
    Arena arena;
    Context c(arena);
    const std::int64_t D = 9, V = 21;
    const Setting s{.N = N, .V = V, .smoothing = 0.1f, .ignore = 1};
    const Tensor x = c.upload<float>(normal_values(N * D, 1), {N, D}),
                 w = c.upload<float>(normal_values(V * D, 2), {V, D}), b = c.upload(normal_values(V, 3)),
                 targets = c.upload(some_targets(N, V, 1));
    Tensor transposed = c.empty({D, V});
    c.kernels().transpose(w.data<float>(), transposed.data<float>(), static_cast<std::size_t>(V),
                          static_cast<std::size_t>(D));
    std::vector<std::vector<float>> results[2];
    for (int fused : {0, 1}) {
      Tape tape;
      Grads grads;
      for (const Tensor& t : {x, w, b}) tape.watch(t);
      c.set_tape(&tape);
      const Tensor y = fused ? ops::projected_cross_entropy(c, {x, {w, transposed}, b}, targets, options_of(c, s))
                             : ops::cross_entropy(c, ops::linear(c, x, {w, transposed}, b), targets, options_of(c, s));
      tape.backward(c, y, c.upload<float>({0.5f}), grads);
      c.set_tape(nullptr);
      results[fused] = {host_copy<float>(y), host_copy<float>(grads.get(x)), host_copy<float>(grads.get(w)),
                        host_copy<float>(grads.get(b))};
    }
    for (std::size_t k = 0; k < 4; ++k)
      for (std::size_t i = 0; i < results[0][k].size(); ++i)
        EXPECT_NEAR(results[0][k][i], results[1][k][i], 2e-6) << N << " " << k;
  }
}

TEST(CrossEntropy, LargeLogitsStayFinite) {
  Arena arena;
  Context c(arena);
  const Tensor logits = c.upload<float>(std::vector<float>{1e4f, -1e4f, 0, -1e30f, 3e4f, 3e4f}, {2, 3});
  const Tensor y = ops::cross_entropy(c, logits, c.upload<std::int32_t>({1, 2}), {.normalizer = 1});
  EXPECT_NEAR(host_copy<float>(y)[0], 2e4 + std::log(2.0), 0.01);
}

TEST(CrossEntropy, LogProbabilitiesOfTargets) {
  for (const kern::Kernels* kernels : kern::tables())
    for (std::int64_t N : {0, 1, 5, 128, 131}) {
      Arena arena;
      Context c(arena, *kernels);
      const std::int64_t D = 4, V = 19;
      const auto xs = normal_values(N * D, 1), ws = normal_values(V * D, 2), bs = normal_values(V, 3);
      const auto targets = some_targets(N, V, 0);
      const auto got = host_copy<float>(ops::target_log_probs(
          c, {c.upload<float>(xs, {N, D}), {c.upload<float>(ws, {V, D}), {}}, c.upload(bs)}, c.upload(targets)));
      ASSERT_EQ(got.size(), static_cast<std::size_t>(N));
      for (std::int64_t i = 0; i < N; ++i) {
        Doubles logits;
        for (std::int64_t v = 0; v < V; ++v) {
          double z = static_cast<double>(bs[static_cast<std::size_t>(v)]);
          for (std::int64_t d = 0; d < D; ++d)
            z += static_cast<double>(xs[static_cast<std::size_t>(i * D + d)]) *
                 static_cast<double>(ws[static_cast<std::size_t>(v * D + d)]);
          logits.push_back(z);
        }
        const auto n = static_cast<std::size_t>(i);
        EXPECT_NEAR(got[n], log_softmax(logits, 0, V)[static_cast<std::size_t>(targets[n])], 1e-5);
      }
    }
}

TEST(CrossEntropy, OfCappedLogits) {
  for (const bool in_bf16 : {false, true}) {
    check_op(projected_case({.N = 9, .V = 17, .smoothing = 0.2f, .ignore = 3, .softcap = 0.7f}, 5, true, in_bf16));
    check_op(projected_case({.N = 130, .V = 40, .weights = true, .softcap = 3}, 3, false, in_bf16));
  }
  Arena arena;
  Context c(arena);
  const Tensor x = c.upload<float>(normal_values(8, 1), {2, 4}), w = c.upload<float>(normal_values(20, 2), {5, 4});
  const Tensor targets = c.upload<std::int32_t>({1, 3});
  const auto log_probs = host_copy<float>(ops::target_log_probs(c, {x, {w, {}}, {}}, targets, 1.5f));
  const Tensor loss = ops::projected_cross_entropy(c, {x, {w, {}}, {}}, targets, {.normalizer = 1, .softcap = 1.5f});
  EXPECT_NEAR(-(log_probs[0] + log_probs[1]), host_copy<float>(loss)[0], 1e-6);
  const std::vector<ops::Projected> teachers{{x, {w, {}}, {}}};
  expect_error([&] { ops::projected_distillation(c, {teachers[0], teachers}, targets, {.softcap = 1}, {}); }, "capped");
}

TEST(LossErrors, NameWhatIsWrong) {
  Arena arena;
  Context c(arena);
  const Tensor logits = c.zeros({2, 5}), x = c.zeros({2, 3}), w = c.zeros({5, 3});
  const auto ids = [&](std::vector<std::int32_t> v) { return c.upload(v); };
  expect_error([&] { ops::cross_entropy(c, logits, ids({0, 5}), {}); }, "value 5 at 1 is not in [0, 5)");
  expect_error([&] { ops::cross_entropy(c, logits, ids({-7, 1}), {}); }, "value -7 at 0 is not in [0, 5)");
  expect_error([&] { ops::cross_entropy(c, logits, ids({1}), {}); }, "targets: expected [2], got [1]");
  expect_error(
      [&] {
        ops::cross_entropy(c, logits, ids({1, 1}), {.weights = c.zeros({3})});
      },
      "weights: expected [2], got [3]");
  expect_error(
      [&] {
        ops::projected_cross_entropy(c, {x, {c.zeros({5, 4}), {}}, {}}, ids({1, 1}), {});
      },
      "do not agree");
  expect_error(
      [&] {
        ops::projected_cross_entropy(c, {x, {w, {}}, c.zeros({4})}, ids({1, 1}), {});
      },
      "b [4] for a vocabulary of 5");
  expect_error(
      [&] {
        ops::projected_cross_entropy(c, {x, {w, {}}, {}}, ids({1, 9}), {});
      },
      "value 9 at 1 is not in [0, 5)");
  expect_error([&] { ops::r_drop(c, {x, {w, {}}, {}}, ids({1, 1}), {}, 1); }, "x [2, 3] for two passes of 2 targets");
  expect_error([&] { ops::r_drop(c, {x, {w, {}}, {}}, ids({1}), {}, -1); }, "alpha -1 is below 0");
  expect_error(
      [&] {
        ops::r_drop(c, {x, {w, {}}, {}}, ids({1}), {.weights = c.zeros({2})}, 1);
      },
      "weights: expected [1], got [2]");
  const ops::Projected student{x, {w, {}}, {}}, wide{x, {c.zeros({6, 3}), {}}, {}};
  const auto distill = [&](const std::vector<ops::Projected>& teachers, float temperature, float mix) {
    ops::projected_distillation(c, {student, teachers}, ids({1, 1}), {}, {.temperature = temperature, .mix = mix});
  };
  expect_error([&] { distill({wide}, 1, 0.5f); }, "a teacher of 2 rows and 6 words for a student of 2 and 5");
  expect_error([&] { distill({}, 1, 0.5f); }, "there is no teacher");
  expect_error([&] { distill({student}, 0, 0.5f); }, "temperature 0 is not above 0");
  expect_error([&] { distill({student}, 1, 1.5f); }, "mix 1.5 is not in [0, 1]");
  expect_error([&] { ops::target_log_probs(c, {x, {w, {}}, {}}, ids({1})); }, "expected [2], got [1]");
}

}  // namespace
}  // namespace tril::test::loss_test
