// The Switch Transformer's routing: one expert for each token, with room for so many tokens of a row.
#include <algorithm>
#include <cmath>

#include "ops/switch_experts.h"
#include "support/op_case.h"

namespace tril::test {
namespace {

TEST(SwitchExperts, TakeTheFirstTokensOfEachRow) {
  Arena arena;
  Context c(arena);
  const Tensor logits = c.upload<float>(std::vector<float>{1, 0,  //
                                                           2, 1,  //
                                                           0, 3,  //
                                                           5, 5,  // of equals the first
                                                           1, 0,  // another row begins
                                                           0, 1,  //
                                                           0, 9},
                                        {7, 2});
  const Rows rows = Rows::of_lengths(std::vector<std::int32_t>{4, 0, 3});
  using Choices = std::vector<std::vector<std::int32_t>>;
  EXPECT_EQ(ops::route_within_capacity(logits, rows, 4).choices, (Choices{{0, 1, 3, 4}, {2, 5, 6}}));
  EXPECT_EQ(ops::route_within_capacity(logits, rows, 2).choices, (Choices{{0, 1, 4}, {2, 5, 6}}));
  const ops::Routing one = ops::route_within_capacity(logits, rows, 1);
  EXPECT_EQ(one.choices, (Choices{{0, 4}, {2, 5}}));
  EXPECT_EQ(one.experts, (std::vector<std::int32_t>{0, 0, 1, 0, 0, 1, 1})) << "of those that found no room too";
  expect_error([&] { ops::route_within_capacity(logits, rows, 0); }, "takes 0 tokens");
  expect_error([&] { ops::route_within_capacity(logits, Rows::rectangle(1, 6), 2); }, "7 tokens for rows of 6");

  const Tensor results[] = {c.upload<float>(std::vector<float>{1, 1, 1, 2}, {2, 2}),
                            c.upload<float>(std::vector<float>{3, 3, 4, 4}, {2, 2})};
  const Tensor weights = c.upload<float>(std::vector<float>(7, 0.5f), {7, 1});
  EXPECT_EQ(host_copy<float>(ops::combine_experts(c, results, weights, one, 2)),
            (std::vector<float>{0.5, 0.5, 0, 0, 1.5, 1.5, 0, 0, 0.5, 1, 2, 2, 0, 0}))
      << "zeros for tokens that found no room";
}

TEST(SwitchExperts, WeightsAreTheChosenOnesShareOfTheSoftmaxOverAll) {
  for (const auto& [N, E] : {std::pair<std::int64_t, std::int64_t>{1, 1}, {5, 4}, {9, 8}, {0, 3}})
    check_op({.name = fmt::format("expert_weights N {} E {}", N, E),
              .shapes = {{N, E}},
              .run =
                  [](Context& c, std::span<const Tensor> x) {
                    const auto rows = Rows::rectangle(1, static_cast<std::int32_t>(x[0].size(0)));
                    return ops::expert_weights(c, x[0], ops::route_within_capacity(x[0], rows, 2),
                                               {.normalised = false});
                  },
              .reference =
                  [N = N, E = E](std::span<const Doubles> x) {
                    Doubles shares;
                    for (std::int64_t t = 0; t < N; ++t) {
                      const auto row = x[0].begin() + t * E;
                      double sum = 0;
                      for (std::int64_t e = 0; e < E; ++e) sum += std::exp(row[e]);
                      shares.push_back(std::exp(*std::max_element(row, row + E)) / sum);
                    }
                    return shares;
                  }});
}

}  // namespace
}  // namespace tril::test
