// Mixture of experts: routing, weighting and combining of results, and load balance.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "ops/experts.h"
#include "support/op_case.h"

namespace tril::test {
namespace {

// The k largest of each row, best first.
std::vector<std::int64_t> best_of(const Doubles& logits, std::int64_t N, std::int64_t E, std::int64_t k) {
  std::vector<std::int64_t> all;
  for (std::int64_t t = 0; t < N; ++t) {
    std::vector<std::int64_t> order(static_cast<std::size_t>(E));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::int64_t a, std::int64_t b) { return at(logits, t, a, E) > at(logits, t, b, E); });
    all.insert(all.end(), order.begin(), order.begin() + k);
  }
  return all;
}

Doubles softmax(const Doubles& x) {
  Doubles y;
  double sum = 0;
  for (const double v : x) sum += y.emplace_back(std::exp(v));
  for (double& v : y) v /= sum;
  return y;
}

Doubles weights_in_double(const Doubles& logits, std::int64_t N, std::int64_t E, std::int64_t k) {
  const auto best = best_of(logits, N, E, k);
  Doubles all;
  for (std::int64_t t = 0; t < N; ++t) {
    Doubles own;
    for (std::int64_t j = 0; j < k; ++j) own.push_back(at(logits, t, best[static_cast<std::size_t>(t * k + j)], E));
    const Doubles w = softmax(own);
    all.insert(all.end(), w.begin(), w.end());
  }
  return all;
}

TEST(Experts, TokensGoToTheLargestLogits) {
  Arena arena;
  Context c(arena);
  const Tensor logits = c.upload<float>(std::vector<float>{1, 3, 2, 0,  //
                                                           5, 5, 5, 5,  // of equals the first
                                                           -1, -9, -3, -2},
                                        {3, 4});
  const ops::Routing r = ops::route(logits, 2);
  EXPECT_EQ(r.experts, (std::vector<std::int32_t>{1, 2, 0, 1, 0, 3}));
  EXPECT_EQ(r.choices, (std::vector<std::vector<std::int32_t>>{{2, 4}, {0, 3}, {1}, {5}}));
  EXPECT_EQ(r.tokens_of(0), (std::vector<std::int32_t>{1, 2}));
  EXPECT_EQ(r.tokens_of(3), (std::vector<std::int32_t>{2}));
  // With a correction, by logits or by their scores: sigmoid(3) + 0.1 is less than sigmoid(2) + 0.2, but 3.1 is more than 2.2.
  const Tensor correction = c.upload<float>(std::vector<float>{0, 0.1f, 0.2f, 0}, {4});
  ops::RouterOptions sigmoid{.score = ops::RouterOptions::Score::sigmoid};
  EXPECT_EQ(ops::route(logits, 1, sigmoid, correction).experts, (std::vector<std::int32_t>{2, 2, 0}));
  sigmoid.chosen_by_logits = true;
  EXPECT_EQ(ops::route(logits, 1, sigmoid, correction).experts, (std::vector<std::int32_t>{1, 2, 0}));
  expect_error([&] { ops::route(logits, 5); }, "5 of 4 experts");
  expect_error([&] { ops::route(logits, 0); }, "0 of 4 experts");
}

TEST(Experts, WeightsAreTheSoftmaxOfTheChosen) {
  for (const auto& [N, E, k] : {std::array<std::int64_t, 3>{1, 1, 1}, {5, 4, 1}, {7, 5, 2}, {9, 8, 8}, {0, 3, 2}})
    check_op(
        {.name = fmt::format("expert_weights N {} E {} k {}", N, E, k),
         .shapes = {{N, E}},
         .run = [k = k](Context& c,
                        std::span<const Tensor> x) { return ops::expert_weights(c, x[0], ops::route(x[0], k)); },
         .reference = [N = N, E = E, k = k](std::span<const Doubles> x) { return weights_in_double(x[0], N, E, k); }});
}

TEST(Experts, TokensChooseFromTheBestGroups) {
  Arena arena;
  Context c(arena);
  // Groups {0, 1}, {2, 3}, {4, 5}: the largest logit is in a group whose best two sum to less than the others'.
  const Tensor logits = c.upload<float>(std::vector<float>{3, -9, 2, 1, 1.5f, 1}, {1, 6});
  ops::RouterOptions o{.score = ops::RouterOptions::Score::sigmoid, .groups = 3, .chosen_groups = 2};
  EXPECT_EQ(ops::route(logits, 2, o).experts, (std::vector<std::int32_t>{2, 4}));
  o.best_of_group = 1;  // by their best alone
  EXPECT_EQ(ops::route(logits, 2, o).experts, (std::vector<std::int32_t>{0, 2}));
  // A correction changes who is chosen, and no weight.
  const Tensor correction = c.upload<float>(std::vector<float>{0, 0, 0, 0, 0, 1});
  const ops::Routing corrected = ops::route(logits, 1, {.score = ops::RouterOptions::Score::sigmoid}, correction);
  EXPECT_EQ(corrected.experts, (std::vector<std::int32_t>{5}));
  const Tensor w = ops::expert_weights(c, logits, corrected,
                                       {.score = ops::RouterOptions::Score::sigmoid, .normalised = false, .scale = 2});
  EXPECT_NEAR(host_copy<float>(w)[0], 2 / (1 + std::exp(-1.0)), 1e-6);
  o.chosen_groups = 1;
  expect_error([&] { ops::route(logits, 3, o); }, "3 of 6 experts, from 1 of 3 groups");
}

// Softmaxes over the logits near the largest and near the second largest [Phi-3.5-MoE's code].
Doubles sparse_mixer_in_double(const Doubles& logits, std::int64_t N, std::int64_t E, double jitter) {
  const auto best = best_of(logits, N, E, 2);
  Doubles w;
  for (std::int64_t t = 0; t < N; ++t)
    for (std::int64_t j = 0; j < 2; ++j) {
      const double most = at(logits, t, best[static_cast<std::size_t>(2 * t + j)], E);
      double sum = 0;
      for (std::int64_t e = 0; e < E; ++e) {
        const double v = at(logits, t, e, E);
        const bool first = j == 1 && e == best[static_cast<std::size_t>(2 * t)];
        if (!first && (most - v) / std::max(std::abs(v), most) <= 2 * jitter) sum += std::exp(v - most);
      }
      w.push_back(1 / sum);
    }
  return w;
}

TEST(Experts, SparseMixersWeightsAreSoftmaxesOfTheNear) {
  for (const float jitter : {0.0f, 0.2f, 0.5f, 100.0f})
    for (const std::int64_t E : {2, 5, 16}) {
      constexpr std::int64_t N = 9;
      const ops::RouterOptions o{.score = ops::RouterOptions::Score::sparse_mixer, .jitter = jitter};
      check_op(
          {.name = fmt::format("sparse_mixer_weights, jitter {}, E {}", jitter, E),
           .shapes = {{N, E}},
           .run = [o](Context& c,
                      std::span<const Tensor> x) { return ops::expert_weights(c, x[0], ops::route(x[0], 2, o), o); },
           .reference =
               [o, E](std::span<const Doubles> x) {
                 return sparse_mixer_in_double(x[0], N, E, static_cast<double>(o.jitter));
               }});
    }
  Arena arena;
  Context c(arena);
  const ops::RouterOptions o{.score = ops::RouterOptions::Score::sparse_mixer};
  const Tensor logits = c.zeros({3, 4});
  expect_error([&] { ops::expert_weights(c, logits, ops::route(logits, 3, o), o); }, "to 3 experts");
}

TEST(Experts, WeightsAreScoresOfTheChosen) {
  using Score = ops::RouterOptions::Score;
  for (const auto score : {Score::softmax, Score::sigmoid})
    for (const bool normalised : {false, true}) {
      const ops::RouterOptions o{.score = score, .normalised = normalised, .scale = 1.5f};
      constexpr std::int64_t N = 7, E = 5, k = 2;
      check_op(
          {.name = fmt::format("expert_weights, score {}, normalised {}", static_cast<int>(score), normalised),
           .shapes = {{N, E}},
           .run = [o](Context& c,
                      std::span<const Tensor> x) { return ops::expert_weights(c, x[0], ops::route(x[0], k, o), o); },
           .reference =
               [o](std::span<const Doubles> x) {
                 Doubles w;
                 const auto best = best_of(x[0], N, E, k);
                 for (std::int64_t t = 0; t < N; ++t) {
                   Doubles p(x[0].begin() + t * E, x[0].begin() + (t + 1) * E);
                   if (o.score == Score::softmax) p = softmax(p);
                   if (o.score == Score::sigmoid)
                     for (double& v : p) v = 1 / (1 + std::exp(-v));
                   double sum = 0;
                   for (std::int64_t j = 0; j < k; ++j)
                     sum += p[static_cast<std::size_t>(best[static_cast<std::size_t>(t * k + j)])];
                   for (std::int64_t j = 0; j < k; ++j)
                     w.push_back(1.5 * p[static_cast<std::size_t>(best[static_cast<std::size_t>(t * k + j)])] /
                                 (o.normalised ? sum : 1));
                 }
                 return w;
               }});
    }
}

// A routing of N tokens over E experts; the last expert gets none.
ops::Routing some_routing(std::int64_t N, std::int64_t E, std::int64_t k) {
  Arena arena;
  Context c(arena);
  std::vector<float> logits = normal_values(N * E, 9);
  for (std::int64_t t = 0; t < N && E > k; ++t) logits[static_cast<std::size_t>(t * E + E - 1)] = -100;
  return ops::route(c.upload<float>(logits, {N, E}), k);
}

TEST(Experts, ResultsAreJoinedByTheirWeights) {
  for (const auto& [N, E, k, D] :
       {std::array<std::int64_t, 4>{1, 1, 1, 1}, {6, 4, 2, 5}, {11, 3, 3, 33}, {9, 5, 1, 8}}) {
    const ops::Routing routing = some_routing(N, E, k);
    OpCase op{.name = fmt::format("combine_experts N {} E {} k {} D {}", N, E, k, D), .shapes = {{N, k}}};
    std::vector<std::size_t> inputs;  // of each expert that has tokens
    for (const auto& choices : routing.choices)
      if (!choices.empty()) {
        inputs.push_back(static_cast<std::size_t>(&choices - routing.choices.data()));
        op.shapes.push_back({static_cast<std::int64_t>(choices.size()), D});
      }
    op.run = [=, D = D](Context& c, std::span<const Tensor> x) {
      std::vector<Tensor> results(routing.choices.size());
      for (std::size_t i = 0; i < inputs.size(); ++i) results[inputs[i]] = x[i + 1];
      return ops::combine_experts(c, results, x[0], routing, D);
    };
    op.reference = [=, N = N, k = k, D = D](std::span<const Doubles> x) {
      Doubles y(static_cast<std::size_t>(N * D));
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        const auto& choices = routing.choices[inputs[i]];
        for (std::size_t row = 0; row < choices.size(); ++row)
          for (std::int64_t d = 0; d < D; ++d)
            y[static_cast<std::size_t>(choices[row] / k * D + d)] +=
                x[0][static_cast<std::size_t>(choices[row])] * at(x[i + 1], static_cast<std::int64_t>(row), d, D);
      }
      return y;
    };
    check_op(op);
  }
  Arena arena;
  Context c(arena);
  const ops::Routing none = ops::route(c.zeros({0, 3}), 2);
  EXPECT_EQ(ops::combine_experts(c, std::vector<Tensor>(3), c.zeros({0, 2}), none, 7).shape(), (Shape{0, 7}));
}

// E sum_e f_e p_e over the rows of all routers.
Doubles balance_in_double(std::span<const Doubles> logits, std::int64_t E, std::int64_t k) {
  Doubles f(static_cast<std::size_t>(E)), p(static_cast<std::size_t>(E));
  double rows = 0;
  for (const Doubles& l : logits) {
    const std::int64_t N = static_cast<std::int64_t>(l.size()) / E;
    rows += static_cast<double>(N);
    for (const std::int64_t e : best_of(l, N, E, k)) ++f[static_cast<std::size_t>(e)];
    for (std::int64_t t = 0; t < N; ++t) {
      const Doubles P = softmax({l.begin() + t * E, l.begin() + (t + 1) * E});
      for (std::size_t e = 0; e < P.size(); ++e) p[e] += P[e];
    }
  }
  return {static_cast<double>(E) * std::inner_product(f.begin(), f.end(), p.begin(), 0.0) / rows / rows};
}

TEST(Experts, LoadBalance) {
  for (const auto& [E, k] : {std::array<std::int64_t, 2>{1, 1}, {4, 1}, {5, 2}, {8, 8}})
    check_op({.name = fmt::format("load_balancing_loss E {} k {}", E, k),
              .shapes = {{7, E}, {3, E}, {1, E}},
              .run = [k = k](Context& c, std::span<const Tensor> x) { return ops::load_balancing_loss(c, x, k); },
              .reference = [E = E, k = k](std::span<const Doubles> x) { return balance_in_double(x, E, k); }});

  Arena arena;
  Context c(arena);
  const std::vector<Tensor> even{c.upload<float>(std::vector<float>{9, 0, 0, 9}, {2, 2})},
      uneven{c.upload<float>(std::vector<float>{9, 0, 9, 0}, {2, 2})};
  EXPECT_NEAR(host_copy<float>(ops::load_balancing_loss(c, even, 1))[0], 1, 1e-6);
  EXPECT_NEAR(host_copy<float>(ops::load_balancing_loss(c, uneven, 1))[0], 2, 1e-3);
  expect_error([&] { ops::load_balancing_loss(c, {}, 1); }, "there is no router");
}

}  // namespace
}  // namespace tril::test
