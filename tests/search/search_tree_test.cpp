// What a search considers, as a tree: its sums are those of the hypotheses, its numbers the model's, and no search changes because
// somebody looks.
#include "search/search_tree.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>

#include "base/rng.h"
#include "decode/batches/decode.h"
#include "search/beam_search.h"
#include "support/contains.h"
#include "support/tree_model.h"

namespace tril::search::testing::search_tree_test {
namespace {

constexpr std::int32_t eos = 1, start = 0;

struct Kind {
  std::string name;
  SearchPlan plan;
  std::int32_t most_living;
};

std::vector<Kind> kinds(RandomSequence& random) {
  SearchPlan plain;
  plain.eos_ids = {eos};
  plain.scores = true;
  plain.length_penalty = std::array{0.0, 0.6, 1.0, 2.0}[random.below(4)];
  plain.early_stopping = std::array{EarlyStopping::no, EarlyStopping::yes, EarlyStopping::never}[random.below(3)];
  if (random.below(3) == 0) plain.repetition_penalty = 1.3;
  SearchPlan beam = plain, groups = plain, alternatives = plain, samples = plain;
  beam.beam_size = beam.n_best = 4;
  groups.beam_size = groups.n_best = 6, groups.beam_groups = 3, groups.diversity_penalty = 0.7;
  alternatives.alternatives = true, alternatives.n_best = 3, alternatives.beam_size = 2;
  samples.n_best = 5, samples.sampling.on = true, samples.sampling.seed = random.below(1000);
  samples.sampling.temperature = 0.7;
  return {{"greedy", plain, 1},
          {"beam", beam, 4},
          {"groups", groups, 6},
          {"alternatives", alternatives, 6},
          {"samples", samples, 5}};
}

struct Watched {
  SearchTree tree;
  std::vector<Hypothesis> hypotheses;
};

class SearchTrees : public ::testing::Test {
 protected:
  Watched watch(const TreeModel& model, Request request, SearchPlan plan, const SearchTree::Bounds& bounds = {}) {
    Watched w{SearchTree(bounds), {}};
    request.observer = &w.tree;
    plan.observed_tokens = 8;
    TreeStep step(model);
    w.hypotheses = decode(c_, step, {{&request, 1}, plan})[0];
    w.tree.close();
    return w;
  }
  std::vector<Hypothesis> unwatched(const TreeModel& model, const Request& request, const SearchPlan& plan) {
    TreeStep step(model);
    return decode(c_, step, {{&request, 1}, plan})[0];
  }

  Arena arena_{std::size_t{1} << 30};
  Context c_{arena_};
};

void expect_identical(const std::vector<Hypothesis>& a, const std::vector<Hypothesis>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].tokens, b[i].tokens);
    EXPECT_EQ(a[i].log_prob, b[i].log_prob);
    EXPECT_EQ(a[i].score, b[i].score);
    EXPECT_EQ(a[i].stop_reason, b[i].stop_reason);
  }
}

// Along the path, added up from the root.
double path_sum(const SearchTree& tree, std::int32_t node) {
  std::vector<double> logs;
  for (; node > 0; node = tree.nodes()[static_cast<std::size_t>(node)].parent)
    logs.push_back(tree.nodes()[static_cast<std::size_t>(node)].log_prob);
  double sum = 0;
  for (auto at = logs.rbegin(); at != logs.rend(); ++at) sum += *at;
  return sum;
}

TEST_F(SearchTrees, SumsAreThoseOfTheHypothesesAndNothingChanges) {
  std::map<Fate, int> seen;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    RandomSequence random(seed, 7);
    const TreeModel model(seed, 14, eos, 1 + random.uniform(), 2 * random.uniform());
    Request request{start, 0, static_cast<std::int32_t>(1 + random.below(9))};
    if (random.below(2)) request.prefix = {5, 3};
    if (random.below(2)) request.min_length = std::min<std::int32_t>(2, request.max_length);
    for (const Kind& kind : kinds(random)) {
      SCOPED_TRACE(kind.name + ", seed " + std::to_string(seed));
      const Watched w = watch(model, request, kind.plan);
      expect_identical(w.hypotheses, unwatched(model, request, kind.plan));
      const std::vector<std::int32_t> ends = w.tree.nodes_of(w.hypotheses);
      for (std::size_t i = 0; i < ends.size(); ++i) {
        ASSERT_GE(ends[i], 0) << "hypothesis " << i << " is not in the tree";
        EXPECT_EQ(path_sum(w.tree, ends[i]), w.hypotheses[i].log_prob);
        const SearchNode& end = w.tree.nodes()[static_cast<std::size_t>(ends[i])];
        EXPECT_EQ(end.score, w.hypotheses[i].score);
        EXPECT_EQ(end.stop_reason, w.hypotheses[i].stop_reason);
        EXPECT_EQ(w.tree.tokens_to(ends[i]), w.hypotheses[i].tokens);
      }
      std::map<std::int32_t, std::int32_t> living;  // by step
      for (const SearchNode& n : w.tree.nodes()) {
        ++seen[n.fate];
        if (n.parent < 0) continue;
        const SearchNode& parent = w.tree.nodes()[static_cast<std::size_t>(n.parent)];
        EXPECT_EQ(n.step, parent.step + 1);
        EXPECT_EQ(parent.fate, Fate::living) << "only what lives has children";
        if (n.fate == Fate::living) living[n.step] += n.samples;
      }
      for (const auto& [step, count] : living) EXPECT_LE(count, kind.most_living) << "step " << step;
      if (kind.plan.repetition_penalty != 1) continue;
      for (std::size_t i = 1; i < w.tree.nodes().size(); ++i) {
        const SearchNode& n = w.tree.nodes()[i];
        Ids history{start};
        history.insert(history.end(), request.prefix.begin(), request.prefix.end());
        const Ids before = w.tree.tokens_to(n.parent);
        history.insert(history.end(), before.begin(), before.end());
        EXPECT_NEAR(n.log_prob, model.log_probs(0, history)[static_cast<std::size_t>(n.token)], 1e-4) << "node " << i;
        EXPECT_NEAR(n.sum, path_sum(w.tree, static_cast<std::int32_t>(i)), 1e-9);
      }
    }
  }
  for (const Fate fate : {Fate::living, Fate::cut, Fate::finished, Fate::stopped, Fate::forbidden})
    EXPECT_GT(seen[fate], 50) << static_cast<int>(fate);
}

// A forbidden token among the likeliest is a branch with the probability that it would have had.
TEST_F(SearchTrees, ForbiddenTokensAreBranchesThatEnd) {
  int shown = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    RandomSequence random(seed, 8);
    const TreeModel model(seed, 14, eos, 2, 1);
    const Request request{start, 0, 6};
    for (Kind kind : kinds(random)) {
      SCOPED_TRACE(kind.name + ", seed " + std::to_string(seed));
      const Ids all{4, 7, 9};
      kind.plan.repetition_penalty = 1;
      kind.plan.suppress_ids = {4, 7};
      kind.plan.bad_words = {{9}};
      const Watched w = watch(model, request, kind.plan);
      expect_identical(w.hypotheses, unwatched(model, request, kind.plan));
      std::map<std::int32_t, Ids> forbidden;  // by parent
      for (const SearchNode& n : w.tree.nodes()) {
        const bool is_one = std::find(all.begin(), all.end(), n.token) != all.end();
        EXPECT_EQ(n.fate == Fate::forbidden, is_one);
        if (n.fate == Fate::forbidden) forbidden[n.parent].push_back(n.token);
      }
      // Each of them that is among the eight likeliest after a node from which the search went on.
      for (std::size_t i = 0; i < w.tree.nodes().size(); ++i) {
        const SearchNode& n = w.tree.nodes()[i];
        if (n.fate != Fate::living) continue;
        Ids history{start};
        const Ids before = w.tree.tokens_to(static_cast<std::int32_t>(i));
        history.insert(history.end(), before.begin(), before.end());
        const std::vector<double> logs = model.log_probs(0, history);
        for (const std::int32_t id : all) {
          const double own = logs[static_cast<std::size_t>(id)];
          const auto better = std::count_if(logs.begin(), logs.end(), [&](double x) { return x > own; });
          const Ids& here = forbidden[static_cast<std::int32_t>(i)];
          EXPECT_EQ(std::find(here.begin(), here.end(), id) != here.end(), better < 8) << "token " << id;
          shown += better < 8 ? 1 : 0;
        }
      }
    }
  }
  EXPECT_GT(shown, 1000);
}

// A search that runs out of time: what lived is stopped, or is the result if nothing has finished.
TEST_F(SearchTrees, ASearchThatIsCutLeavesItsBeams) {
  SearchPlan plan;
  plan.beam_size = plan.n_best = 2;
  plan.eos_ids = {eos};
  const auto cut_after = [&](const std::vector<std::vector<Candidate>>& steps) {
    SearchTree tree;
    Request request{start, 0, 10};
    request.observer = &tree;
    BeamSearch search(plan);
    search.begin(request);
    for (const std::vector<Candidate>& step : steps)
      search.advance(step, static_cast<std::int32_t>(step.size()) / search.rows());
    search.cut(StopReason::time_limit);
    tree.close();
    std::vector<Fate> fates;
    for (const SearchNode& n : tree.nodes()) fates.push_back(n.fate);
    const std::vector<Hypothesis> results = search.hypotheses();
    for (const std::int32_t node : tree.nodes_of(results)) EXPECT_GE(node, 0);
    return fates;
  };
  using enum Fate;
  const std::vector<Candidate> three{{-1, 5}, {-2, 6}, {-3, 7}}, with_end{{-1, 5}, {-1.5, eos}, {-2, 6}};
  EXPECT_EQ(cut_after({three}), (std::vector<Fate>{living, finished, finished, cut}));
  EXPECT_EQ(cut_after({with_end}), (std::vector<Fate>{living, stopped, finished, stopped}));
  EXPECT_EQ(cut_after({}), (std::vector<Fate>{finished}));
}

TEST_F(SearchTrees, IsBounded) {
  const TreeModel model(3, 14, eos, 0.5, -3);
  SearchPlan plan;
  plan.beam_size = plan.n_best = 4;
  plan.eos_ids = {eos};
  const Request request{start, 0, 12};
  const Watched whole = watch(model, request, plan, {.others = 0});
  EXPECT_EQ(whole.tree.left_out(), 0);
  const auto lives = [](const Watched& w) {
    return std::count_if(w.tree.nodes().begin(), w.tree.nodes().end(),
                         [](const SearchNode& n) { return n.fate == Fate::living; });
  };
  const Watched bounded = watch(model, request, plan, {.nodes = 80, .others = 0});
  EXPECT_LE(bounded.tree.nodes().size(), 80u);
  EXPECT_EQ(lives(bounded), lives(whole)) << "what the search went on from is whole";
  EXPECT_EQ(bounded.tree.left_out() + std::ssize(bounded.tree.nodes()), std::ssize(whole.tree.nodes()));
  expect_identical(bounded.hypotheses, whole.hypotheses);
  try {
    watch(model, request, plan, {.nodes = 30, .others = 0});
    FAIL() << "a tree of more than 30 nodes";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_TRUE(contains(error.what(), "search tree", "more than 30 nodes", "smaller beam"));
  }
}

}  // namespace
}  // namespace tril::search::testing::search_tree_test
