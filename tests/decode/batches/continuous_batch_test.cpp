// Sentences of all kinds that join and leave a running batch at random get the same results as alone; their resources
// are returned when they leave.
#include "decode/batches/continuous_batch.h"

#include <gtest/gtest.h>

#include <map>

#include "support/batch_jobs.h"
#include "support/tree_model.h"

namespace tril::search::testing {
namespace {

TEST(ContinuousBatch, SentencesOfAnyOptionsComeAndGo) {
  Arena arena;
  Context c(arena);
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const TreeModel model(seed, vocab, eos, 2, 0.5);
    const std::vector<Job> jobs = jobs_of(60, seed, false, 4);
    RandomSequence random(seed, 11);
    TreeStep step(model);
    ContinuousBatch batch(step, {});
    std::map<std::int32_t, std::vector<Hypothesis>> got;
    std::map<std::int32_t, std::int32_t> steps_left;  // of sentences that will be cut off
    std::size_t waiting = 0, most = 0;
    while (waiting < jobs.size() || !batch.empty()) {
      for (std::uint64_t n = random.below(6); n > 0 && waiting < jobs.size(); --n, ++waiting) {
        batch.join(static_cast<std::int32_t>(waiting), jobs[waiting].request, jobs[waiting].options);
        if (random.below(5) == 0)
          steps_left[static_cast<std::int32_t>(waiting)] = static_cast<std::int32_t>(random.below(6));
      }
      for (auto at = steps_left.begin(); at != steps_left.end();)
        if (at->second-- == 0) {
          batch.cut(at->first, StopReason::cancelled);
          at = steps_left.erase(at);
        } else {
          ++at;
        }
      most = std::max(most, batch.sentences());
      batch.step(c);
      for (ContinuousBatch::Ended& e : batch.take_ended()) {
        EXPECT_EQ(got.count(e.sentence), 0u);
        EXPECT_FALSE(e.error);
        got[e.sentence] = std::move(e.hypotheses);
      }
    }
    EXPECT_EQ(got.size(), jobs.size());
    EXPECT_GT(most, 4u);
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      const std::vector<Hypothesis>& list = got[static_cast<std::int32_t>(i)];
      ASSERT_FALSE(list.empty());
      if (list[0].stop_reason == StopReason::cancelled) continue;
      struct Numbered : TreeStep {  // the sentence's number determines the TreeModel's output
        Numbered(const TreeModel& m, std::int32_t n) : TreeStep(m), number(n) {}
        StepOutput step(Context& k, const StepInput& input) override {
          const std::vector<std::int32_t> numbers(input.sentences.size(), number);
          StepInput same = input;
          same.sentences = numbers;
          return TreeStep::step(k, same);
        }
        std::int32_t number;
      } alone(model, static_cast<std::int32_t>(i));
      expect_same(list, decode(c, alone, {{&jobs[i].request, 1}, *jobs[i].options})[0], fmt::format("sentence {}", i));
    }
  }
  EXPECT_EQ(arena.stats().live_bytes, 0u);
}

TEST(ContinuousBatch, AnErrorOfOneSentenceIsItsOwn) {
  Arena arena;
  Context c(arena);
  const TreeModel model(1, vocab, eos, 2, -30);
  SearchPlan bad;
  bad.eos_ids = {eos};
  bad.ends = [](std::span<const std::int32_t>, std::span<const std::int32_t> t) -> bool {
    if (t.size() == 3) fail("test", "an error in the middle");
    return false;
  };
  TreeStep step(model);
  ContinuousBatch batch(step, {});
  const std::vector<Options> all = kinds();
  batch.join(0, {.start_id = start, .max_length = 8}, all[0]);
  batch.join(1, {.start_id = start, .max_length = 8}, std::make_shared<const SearchPlan>(bad));
  batch.join(2, {.start_id = start, .max_length = 8}, all[2]);
  EXPECT_THROW(batch.join(3, {.start_id = start, .max_length = 0}, all[0]), Error);
  EXPECT_THROW(batch.join(3, {.start_id = start, .max_length = 4, .phrases = {{4}}}, all[0]), Error);
  std::map<std::int32_t, bool> failed;
  while (!batch.empty()) {
    batch.step(c);
    for (const ContinuousBatch::Ended& e : batch.take_ended()) failed[e.sentence] = static_cast<bool>(e.error);
  }
  EXPECT_EQ(failed, (std::map<std::int32_t, bool>{{0, false}, {1, true}, {2, false}}));
}

}  // namespace
}  // namespace tril::search::testing
