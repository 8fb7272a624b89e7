// The automaton of random grammars against their definition: all that a text may be in a grammar, each with its own stack.
#include "grammar/automata/byte_automaton.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "base/element.h"
#include "base/error.h"
#include "base/rng.h"
#include "grammar/automata/grammar.h"
#include "support/rounds.h"

namespace tril::search::byte_automaton_test {
namespace {

// A place, and those where to continue when its rule and the ones around it end; the innermost is last.
using Config = std::pair<std::int32_t, std::vector<std::int32_t>>;
using Configs = std::set<Config>;

class Definition {
 public:
  explicit Definition(Grammar grammar) : grammar_(std::move(grammar)) {}

  Configs start() { return closed({{grammar_.rule(0).start, {}}}); }
  Configs next(const Configs& from, unsigned char byte) {
    std::vector<Config> reached;
    for (const auto& [at, stack] : from)
      for (const Grammar::Edge& e : grammar_.state(at).edges)
        if (e.least <= byte && byte <= e.most) reached.emplace_back(e.to, stack);
    return closed(std::move(reached));
  }
  bool complete(const Configs& configs) const {
    for (const auto& [at, stack] : configs)
      if (stack.empty() && grammar_.state(at).ends_rule) return true;
    return false;
  }

 private:
  bool is_live(std::int32_t at) { return element(grammar_.distances(), at) < Grammar::never; }

  Configs closed(std::vector<Config> pending) {
    Configs all;
    while (!pending.empty()) {
      const Config config = pending.back();
      const auto& [at, stack] = config;
      pending.pop_back();
      if (!is_live(at) || !all.insert(config).second) continue;
      const Grammar::State& place = grammar_.state(at);
      if (place.ends_rule && !stack.empty())
        pending.emplace_back(stack.back(), Config::second_type(stack.begin(), stack.end() - 1));
      for (const std::int32_t to : place.jumps) pending.emplace_back(to, stack);
      for (const Grammar::Call& call : place.calls) {
        if (!is_live(call.to)) continue;
        Config inner{grammar_.rule(call.rule).start, stack};
        inner.second.push_back(call.to);
        pending.push_back(std::move(inner));
      }
    }
    return all;
  }

  Grammar grammar_;
};

// Few places and bytes, so that texts meet often, and ranges that share their ends, up to the highest byte.
Grammar random_grammar(RandomSequence& random) {
  Grammar grammar;
  for (int rule = 0; rule < 3; ++rule) grammar.add_rule();
  std::vector<std::vector<std::int32_t>> places;
  for (std::int32_t rule = 0; rule < 3; ++rule) {
    places.push_back({grammar.rule(rule).start, grammar.rule(rule).end});
    for (int more = 0; more < 3; ++more) places.back().push_back(grammar.add_state());
  }
  constexpr std::array<unsigned char, 6> ends{0, 'a', 'b', 'c', 0x80, 0xff};
  for (const auto& list : places)
    for (std::uint64_t step = 4 + random.below(10); step > 0; --step) {
      const std::size_t from = random.below(list.size());
      if (from == 1) continue;  // the end of the rule
      const std::int32_t to = list[random.below(list.size())];
      const std::size_t least = random.below(ends.size()), most = least + random.below(ends.size() - least);
      switch (random.below(6)) {
        case 0:
          grammar.add_jump(list[from], to);
          break;
        case 1:
          grammar.add_call(list[from], static_cast<std::int32_t>(random.below(3)), to);
          break;
        default:
          grammar.add_edge(list[from], ends[least], ends[most], to);
      }
    }
  return grammar;
}

TEST(ByteAutomaton, IsTheDefinitionOfRandomGrammars) {
  std::int64_t steps = 0;
  const std::uint64_t rounds = test::rounds(2000, [&](RandomSequence& random) {
    Grammar grammar = random_grammar(random);
    try {
      grammar.check_sound();
    } catch (const Error&) {
      return;  // it allows no text, or begins with itself
    }
    Definition definition(grammar);
    ByteAutomaton automaton(std::move(grammar));
    for (int text = 0; text < 5; ++text) {
      Configs configs = definition.start();
      std::int32_t state = automaton.start();
      constexpr std::array<unsigned char, 9> all{0, '`', 'a', 'b', 'c', 'd', 0x7f, 0x80, 0xff};
      for (int n = 0; n < 8; ++n, ++steps) {
        EXPECT_EQ(automaton.complete(state), definition.complete(configs));
        for (const unsigned char byte : all)
          EXPECT_EQ(automaton.next(state, byte) != ByteAutomaton::dead, !definition.next(configs, byte).empty())
              << int{byte};
        const unsigned char byte = all[random.below(all.size())];
        configs = definition.next(configs, byte), state = automaton.next(state, byte);
        ASSERT_EQ(state == ByteAutomaton::dead, configs.empty()) << int{byte};
        if (configs.empty()) break;
      }
    }
  });
  if (rounds < 100) return;  // too few to say how long texts are
  EXPECT_GT(steps, static_cast<std::int64_t>(rounds)) << "grammars of texts long enough to say something";
}

}  // namespace
}  // namespace tril::search::byte_automaton_test
