// Greedy search, samples and beams give the same stop reasons.
#include "search/stop_reason.h"

#include <gtest/gtest.h>

#include <set>
#include <stop_token>

#include "decode/batches/decode.h"
#include "support/tree_model.h"

namespace tril::search {
namespace {

constexpr std::int32_t end = 0, begin = 1;

std::vector<SearchPlan> each_kind() {
  SearchPlan greedy, samples, beam, groups, alternatives;
  samples.sampling.on = true, samples.n_best = 5;
  beam.beam_size = beam.n_best = 4;
  groups.beam_size = groups.n_best = 4, groups.beam_groups = 2, groups.diversity_penalty = 0.5;
  alternatives.beam_size = 2, alternatives.n_best = 3, alternatives.alternatives = true;
  std::vector<SearchPlan> plans{greedy, samples, beam, groups, alternatives};
  for (SearchPlan& p : plans) p.eos_ids = {end};
  return plans;
}

TEST(StopReason, SaysHowEachHypothesisEnds) {
  std::set<StopReason> seen;
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    for (SearchPlan plan : each_kind()) {
      plan.ends = [](std::span<const std::int32_t>, std::span<const std::int32_t> tokens) {
        return tokens.back() == 3;
      };
      const testing::TreeModel model(seed, 8, end, 1, 0);
      Arena arena;
      Context c(arena);
      testing::TreeStep step(model);
      const auto found = decode(c, step, {std::vector{Request{begin, 0, 5}}, plan});
      for (const Hypothesis& h : found[0]) {
        const std::int32_t last = h.tokens.back();
        EXPECT_EQ(h.stop_reason, last == end             ? StopReason::end_token
                                 : h.tokens.size() == 5u ? StopReason::length
                                                         : StopReason::stop);
        EXPECT_TRUE(h.stop_reason != StopReason::stop || last == 3);
        EXPECT_FALSE(is_cut(h.stop_reason));
        seen.insert(h.stop_reason);
      }
    }
  EXPECT_EQ(seen.size(), 3u);
}

TEST(StopReason, DeadEndsAndCancelledSearchesAreCut) {
  for (SearchPlan plan : each_kind()) {
    const testing::TreeModel model(3, 8, end, 1, 0);
    Arena arena;
    Context c(arena);
    testing::TreeStep step(model);
    std::stop_source source;
    source.request_stop();
    const Watch watch{.stop = source.get_token()};
    const auto found = decode(c, step, {std::vector{Request{begin, 0, 5}}, plan, 0, watch});
    for (const Hypothesis& h : found[0]) {
      EXPECT_EQ(h.stop_reason, StopReason::cancelled);
      EXPECT_TRUE(is_cut(h.stop_reason));
    }
    for (std::int32_t id = 0; id < 8; ++id) plan.suppress_ids.push_back(id);
    const auto stuck = decode(c, step, {std::vector{Request{begin, 0, 5}}, plan});
    for (const Hypothesis& h : stuck[0]) EXPECT_EQ(h.stop_reason, StopReason::dead_end);
  }
}

TEST(StopReason, HasAName) {
  EXPECT_EQ(name_of(StopReason::end_token), "end_token");
  EXPECT_EQ(name_of(StopReason::time_limit), "time_limit");
  EXPECT_EQ(name_of(StopReason::refused), "refused");
}

}  // namespace
}  // namespace tril::search
