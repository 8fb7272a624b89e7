#include "grammar/automata/grammar.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "support/constraints.h"
#include "support/rounds.h"
#include "support/schema_validator.h"

namespace tril::search {
namespace {

// By the definition: every step is taken until no distance becomes less.
std::vector<std::int64_t> slow_distances(const Grammar& grammar) {
  std::vector<std::int64_t> distance(grammar.states(), Grammar::never);
  for (std::size_t r = 0; r < grammar.rules(); ++r)
    element(distance, grammar.rule(static_cast<std::int32_t>(r)).end) = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t s = 0; s < distance.size(); ++s) {
      const Grammar::State& state = grammar.state(static_cast<std::int32_t>(s));
      std::int64_t least = distance[s];
      for (const Grammar::Edge& e : state.edges) least = std::min(least, 1 + element(distance, e.to));
      for (const std::int32_t to : state.jumps) least = std::min(least, element(distance, to));
      for (const Grammar::Call& c : state.calls)
        least = std::min(least, element(distance, grammar.rule(c.rule).start) + element(distance, c.to));
      changed |= least < distance[s];
      distance[s] = least;
    }
  }
  return distance;
}

TEST(Grammar, DistancesAreThoseOfTheDefinition) {
  test::rounds(40, [](RandomSequence& random) {
    Grammar grammar = json_schema_grammar(testing::random_schema(random).dump());
    EXPECT_EQ(grammar.distances(), slow_distances(grammar));
  });
}

TEST(Grammar, DistancesChangeAsItGrows) {
  Grammar grammar;
  const auto [start, end] = grammar.rule(grammar.add_rule());
  EXPECT_EQ(grammar.distances(), (std::vector<std::int64_t>{Grammar::never, 0}));
  const std::int32_t between = grammar.add_text(start, "abc");
  EXPECT_EQ(element(grammar.distances(), start), Grammar::never);
  grammar.add_jump(between, end);
  EXPECT_EQ(element(grammar.distances(), start), 3);
  const std::int32_t part = grammar.add_rule();
  grammar.add_call(start, part, end);
  EXPECT_EQ(element(grammar.distances(), start), 3);
  grammar.add_edge(grammar.rule(part).start, 'x', 'z', grammar.rule(part).end);
  EXPECT_EQ(element(grammar.distances(), start), 1);
}

}  // namespace
}  // namespace tril::search
