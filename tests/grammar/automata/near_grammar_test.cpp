// Near grammars: for as many bytes as they are made for, they take what the whole grammar takes.
#include "grammar/automata/near_grammar.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "grammar/automata/byte_automaton.h"
#include "support/constraints.h"
#include "support/rounds.h"

namespace tril::search {
namespace {

constexpr std::int32_t dead = ByteAutomaton::dead;

const std::vector<std::string>& schemas() {
  static const std::vector<std::string> list{
      R"({"type":"string","minLength":3,"maxLength":60})",
      R"({"type":"string","pattern":"^[a-c]+(-[a-c0-9]{1,30})*$","minLength":20,"maxLength":90})",
      R"({"type":"string","pattern":"a.c","maxLength":70})",
      R"({"type":"string","pattern":"^(ab|[x-z]{5,40}|\\u00e9.{0,50})$"})",
      R"({"type":"array","items":{"type":"string","maxLength":30},"minItems":2,"maxItems":40})",
      R"({"type":"object","properties":{"a":{"type":"string","pattern":"^\\S*$","maxLength":50},"b":{"$ref":"#"}}})"};
  return list;
}

TEST(NearGrammar, TakesTheSameNextBytes) {
  for (const std::string& schema : schemas())
    for (const std::size_t which : {0, 1, 2, 3}) {
      const std::array<std::int64_t, 4> lengths{0, 1, 4, 12};
      const std::int64_t bytes = lengths[which];
      SCOPED_TRACE(fmt::format("{} bytes, {}", bytes, schema));
      Grammar grammar = json_schema_grammar(schema);
      NearGrammar near = std::move(near_grammars(grammar, lengths)[which]);
      EXPECT_LT(near.grammar.states(), grammar.states());
      ByteAutomaton small(std::move(near.grammar), near.distances), whole(std::move(grammar));
      std::vector<std::int32_t> stacks;
      test::rounds(20, [&](RandomSequence& random) {
        const auto random_next = [&](std::int32_t state) {
          std::vector<unsigned char> live;
          for (const unsigned char b : whole.lowest_bytes())
            if (whole.next(state, b) != dead) live.push_back(b);
          return live.empty() || random.below(20) == 0 ? static_cast<unsigned char>(random.below(256))
                                                       : live[random.below(live.size())];
        };
        std::int32_t state = whole.start();
        for (std::uint64_t n = random.below(80); n > 0; --n)
          if (const std::int32_t to = whole.next(state, random_next(state)); to != dead) state = to;
        std::int32_t at = small.renamed(whole, state, near.place_of, stacks);
        EXPECT_EQ(small.complete(at), whole.complete(state));
        for (std::int64_t n = 0; n < bytes; ++n) {
          const unsigned char byte = random_next(state);
          state = whole.next(state, byte), at = small.next(at, byte);
          ASSERT_EQ(at == dead, state == dead);
          if (state == dead) break;
          const std::int64_t left = whole.bytes_left(state), here = small.bytes_left(at);
          EXPECT_TRUE(left == here || left < 2 * here) << left << " bytes left, near ones: " << here;
        }
      });
    }
}

// All counts far from both bounds are one place.
TEST(NearGrammar, HasNoMorePlacesForLongerStrings) {
  const auto places = [](int most) {
    Grammar grammar =
        json_schema_grammar(fmt::format(R"({{"type":"string","pattern":"^[a-z]+(-[a-z]+)*$","maxLength":{}}})", most));
    return near_grammars(grammar, std::array{std::int64_t{10}})[0].grammar.states();
  };
  EXPECT_EQ(places(100), places(3000));
}

}  // namespace
}  // namespace tril::search
