// Constraints: masks, lengths, and searches under them. Every text must be valid and complete, for any length limit and any
// logits.
#include "grammar/automata/constraint.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <regex>
#include <set>

#include "support/constraints.h"
#include "support/process.h"
#include "support/rounds.h"
#include "support/schema_validator.h"

namespace tril::search {
namespace {

using nlohmann::json;

bool may_follow(const Constraint::Allowed& allowed, std::int32_t id) {
  const auto bit = static_cast<std::size_t>(id);
  return !allowed.mask.empty() && (allowed.mask[bit / 64] >> (bit % 64) & 1) != 0;
}

// Objects of two objects of two objects ...: a few lines that describe more text than could ever be written.
TEST(Constraint, ATextBeyondAllBoundsIsRefusedBeforeItIsSpelt) {
  const auto trie =
      std::make_shared<TokenTrie>(std::vector<std::string>{"{", "}", "\"", ":", ",", " ", "a", "b", "\":{"});
  for (const int levels : {8, 30, 55, 64, 150}) {
    std::string schema = R"({"$ref":"#/$defs/d0","$defs":{)";
    for (int i = 0; i < levels; ++i)
      schema += fmt::format(
          R"("d{}":{{"type":"object","properties":{{"a":{{"$ref":"#/$defs/d{}"}},"b":{{"$ref":"#/$defs/d{}"}}}},)"
          R"("required":["a","b"],"additionalProperties":false}},)",
          i, i + 1, i + 1);
    schema += fmt::format(R"("d{}":{{"type":"object","properties":{{}},"additionalProperties":false}}}}}})", levels);
    const auto grammar = [&] { return json_schema_grammar(schema, {.alphabet = trie->alphabet()}); };
    if (levels > 60) {  // more than can be counted
      expect_refused([&] { grammar(); }, "it allows no text");
      continue;
    }
    const Constraint constraint(grammar(), trie);
    EXPECT_GT(constraint.least_tokens(), 1000) << levels;
    expect_refused([&] { constraint.check_room(1000, true); }, "the shortest text that it allows has");
    EXPECT_EQ(constraint.after({}, 1000).count, 0) << levels;
  }
}

// A vocabulary without some characters: what it can spell is allowed, the rest is refused.
TEST(Constraint, KeepsToTheVocabulary) {
  const std::vector<std::string> letters{"a", "b", "{", "}", "\"", ":", ",", " ", "\u00e9", "1", "\xc3", "bb", ""};
  const auto trie = std::make_shared<TokenTrie>(letters);
  EXPECT_EQ(trie->alphabet().size(), 9u);
  EXPECT_TRUE(trie->bytes(10).empty()) << "half a character could never be made whole";
  const Constraint string(json_schema_grammar(R"({"type":"object","additionalProperties":{"type":"string"}})",
                                              {.alphabet = trie->alphabet()}),
                          trie);
  EXPECT_TRUE(string.allows("{\"a\": \"b\u00e9\"}"));
  EXPECT_FALSE(string.allows("{\"c\":\"\"}"));
  expect_refused([&] { json_schema_grammar(R"({"type":"boolean"})", {.alphabet = trie->alphabet()}); },
                 "no token for \"t\"");
  const Constraint regex(regex_grammar("[a-z]+\u00e9?", trie->alphabet()), trie);
  EXPECT_TRUE(regex.allows("abba\u00e9"));
  EXPECT_FALSE(regex.allows("abc"));
}

// Each bit of a mask against the definition: the text with the token's bytes is a prefix of an allowed one.
TEST(Constraint, MasksAreThoseOfTheDefinition) {
  const auto trie = tokens(400);
  const Constraint c(
      json_schema_grammar(
          R"({"type":"object","properties":{"name":{"type":"string","maxLength":6},"next":{"$ref":"#"},"v":{"enum":["foo","\u00e9",123]}},"required":["name"]})"),
      trie);
  RandomSequence random(6, 6);
  for (int text = 0; text < 12; ++text) {
    std::vector<std::int32_t> so_far;
    for (int steps = 0; steps < 25; ++steps) {
      const Constraint::Allowed allowed = c.after(so_far, 1000);
      ASSERT_TRUE(allowed.possible);
      std::vector<std::int32_t> next;
      for (std::int32_t id = 0; id < trie->size(); ++id) {
        const bool set = may_follow(allowed, id);
        std::vector<std::int32_t> longer = so_far;
        longer.push_back(id);
        if (!trie->bytes(id).empty()) {
          EXPECT_EQ(set, c.after(longer, 1000).possible) << id;
        } else {
          EXPECT_FALSE(set);
        }
        if (set) next.push_back(id);
      }
      EXPECT_EQ(static_cast<std::int64_t>(next.size()), allowed.count);
      if (next.empty()) break;
      so_far.push_back(next[random.below(next.size())]);
    }
  }
}

// All tokens are followed here: one may come exactly if the shortest ending after it has no more tokens than are left then.
void expect_masks_of_the_definition(const std::shared_ptr<const TokenTrie>& trie, const std::string& schema,
                                    RandomSequence& random) {
  const Constraint c(json_schema_grammar(schema), trie);
  const auto ends_within = [&](std::vector<std::int32_t> text, std::int64_t left) {
    for (; left >= 0; --left) {
      const Constraint::Allowed allowed = c.after(text, 1000);
      if (!allowed.possible || allowed.complete) return allowed.possible;
      text.push_back(c.shortest_after(text, 1000));
    }
    return false;
  };
  for (int text = 0; text < 6; ++text) {
    std::vector<std::int32_t> so_far;
    std::int64_t left = text < 3 ? 1000 : c.least_tokens() + static_cast<std::int64_t>(random.below(8));
    for (int steps = 0; steps < 12; ++steps, --left) {
      const Constraint::Allowed allowed = c.after(so_far, left);
      ASSERT_TRUE(allowed.possible);
      std::vector<std::int32_t> next;
      for (std::int32_t id = 0; id < trie->size(); ++id) {
        const bool set = may_follow(allowed, id);
        std::vector<std::int32_t> longer = so_far;
        longer.push_back(id);
        EXPECT_EQ(set, !trie->bytes(id).empty() && ends_within(longer, left - 1))
            << schema << " token " << id << " '" << trie->bytes(id) << "' with " << left << " left";
        if (set) next.push_back(id);
      }
      EXPECT_EQ(static_cast<std::int64_t>(next.size()), allowed.count);
      if (next.empty()) break;
      so_far.push_back(next[random.below(next.size())]);
    }
  }
}

// Masks of plain text are found without following each token.
TEST(Constraint, MasksOfPlainTextAreThoseOfTheDefinition) {
  std::vector<std::string> list = vocabulary(300, 7);
  for (const char* more : {"\u00e9t\u00e9", "\u4e2d\u6587", "a\u2028", "\U0001f600b", "word", "words", "arn", "\",\"b"})
    list.emplace_back(more);
  for (const std::size_t length : {8, 31, 32, 33, 50}) list.emplace_back(length, 'x'), list.emplace_back(length, ' ');
  for (const char* end : {"\"", "y", "y-0", "\u4e2d", "\\n"}) list.push_back(std::string(40, 'x') + end);
  for (const char* more : {"x-1", "-x-", "ab\"", "x\\n", "xx\":", "a.b.c", "1x:1"}) list.emplace_back(more);
  const auto trie = std::make_shared<TokenTrie>(list);
  RandomSequence random(8, 6);
  for (const std::string schema :
       {R"({"type":"string"})", R"({"type":"string","maxLength":11})",
        R"({"type":"string","minLength":3,"maxLength":40})",
        R"({"type":"string","pattern":"^[^:]*:.*$","maxLength":30})",
        R"({"type":"string","pattern":"^[A-Za-z0-9]{2,35}$"})",
        R"({"type":"string","pattern":"^(arn:[a-z]{1,20}:.*|[^x]+|x.{0,9})$"})",
        R"({"type":"string","pattern":"^[a-z0-9](-*[a-z0-9])*$","maxLength":20})",
        R"({"type":"string","pattern":"^[a-z0-9](-*[a-z0-9])*$","minLength":2,"maxLength":300})",
        R"({"type":"string","pattern":"^[x0-9]+(:[x0-9]+)?$","minLength":70,"maxLength":200})",
        R"({"type":"string","pattern":"a.c","maxLength":120})",
        R"({"type":"string","pattern":"x.*:","minLength":5,"maxLength":36})",
        R"({"type":"object","additionalProperties":{"type":"integer"},"properties":{"word":{"type":"string"}}})",
        R"({"type":"array","items":{"type":"string","maxLength":3},"minItems":2})"}) {
    expect_masks_of_the_definition(trie, schema, random);
  }
}

// Where plain tokens are short, others are followed beyond them: here `ab"`, which ends a string that `a"` may not end yet.
TEST(Constraint, TokensThatAreLongerThanAnyPlainOneAreFollowed) {
  std::vector<std::string> list;
  for (char c = 0x20; c < 0x7f; ++c) list.emplace_back(1, c);
  for (const char* more : {"ab\"", "a\"", "abc\"", "\"a\"", "ab\",", "ab\\n"}) list.emplace_back(more);
  const auto trie = std::make_shared<TokenTrie>(list);
  RandomSequence random(9, 6);
  for (const std::string schema :
       {R"({"type":"string","minLength":2})", R"({"type":"string","minLength":3,"maxLength":4})",
        R"({"type":"array","items":{"type":"string","minLength":2}})", R"({"type":"string","pattern":"^[a-c]{2,9}$"})"})
    expect_masks_of_the_definition(trie, schema, random);
}

// Whatever was drawn before. If exactly its tokens are left, masks still allow each of them.
TEST(Constraint, TheShortestEndingIsFoundTokenByToken) {
  const auto trie = tokens(400);
  const Constraint c(
      json_schema_grammar(
          R"({"type":"object","properties":{"name":{"type":"string","minLength":9},"v":{"enum":["foo",123]}},"required":["name","v"]})"),
      trie);
  const std::int64_t whole = c.least_tokens();
  EXPECT_EQ(c.shortest_after({}, whole / 100), -1) << "no ending fits, whatever the tokens";
  EXPECT_EQ(c.shortest_after(std::array{std::int32_t{'}'}}, 1000), -1) << "not the beginning of an allowed text";
  test::rounds(20, [&](RandomSequence& random) {
    std::vector<std::int32_t> text;
    for (std::uint64_t n = random.below(10); n > 0; --n) {
      const Constraint::Allowed allowed = c.after(text, 1000);
      if (allowed.count == 0) break;
      std::int32_t id = 0;
      while (!may_follow(allowed, id) || random.below(static_cast<std::uint64_t>(allowed.count)) != 0)
        id = static_cast<std::int32_t>((id + 1) % trie->size());
      text.push_back(id);
    }
    std::vector<std::int32_t> whole_text = text;
    for (std::int32_t next = 0; (next = c.shortest_after(whole_text, 1000)) >= 0;) whole_text.push_back(next);
    EXPECT_TRUE(c.after(whole_text, 1000).complete);
    for (std::int64_t left = std::ssize(whole_text) - std::ssize(text); left > 0; --left) {
      const std::int32_t next = whole_text[text.size()];
      EXPECT_EQ(c.shortest_after(text, left), next);
      EXPECT_TRUE(may_follow(c.after(text, left), next)) << left << " left";
      text.push_back(next);
    }
  });
}

// For every length that the shortest text fits, a greedy search over random logits ends in an allowed text; with one
// token less there is none.
TEST(Constraint, EndsWithinAnyLengthThatCanBe) {
  Searches searches(tokens());
  for (
      const std::string schema :
      {R"({"type":"object","properties":{"first_name":{"type":"string","minLength":3},"values":{"type":"array","items":{"type":"integer"},"minItems":2}},"required":["first_name","values"]})",
       R"({"$ref":"#/$defs/t","$defs":{"t":{"type":"object","properties":{"next":{"anyOf":[{"$ref":"#/$defs/t"},{"type":"null"}]},"n":{"const":"something long"}},"required":["next","n"],"additionalProperties":false}}})"}) {
    const auto c = std::make_shared<Constraint>(json_schema_grammar(schema), searches.trie);
    const auto least = static_cast<std::int32_t>(c->least_tokens()) + 1;
    const json s = json::parse(schema);
    for (std::int32_t length = least; length < least + 30; ++length)
      for (std::uint64_t seed = 0; seed < 3; ++seed) {
        const Hypothesis h = searches.run(searches.options(c), length, seed)[0];
        ASSERT_FALSE(h.tokens.empty());
        EXPECT_EQ(h.tokens.back(), searches.eos);
        EXPECT_LE(static_cast<std::int32_t>(h.tokens.size()), length);
        const json value = json::parse(searches.text(h), nullptr, false);
        ASSERT_FALSE(value.is_discarded()) << searches.text(h);
        EXPECT_EQ(testing::fault_of(value, s, s), "") << searches.text(h);
      }
    expect_refused([&] { searches.run(searches.options(c), least - 1, 1); }, "the shortest text that it allows has");
  }
}

// Forgotten states are built again.
TEST(Constraint, KeepsNoMoreStatesThanItMay) {
  Searches searches(tokens());
  const auto c = std::make_shared<Constraint>(json_object_grammar(), searches.trie);
  const std::string unbounded = searches.text(searches.run(searches.options(c), 300, 4)[0]);
  c->limit(50, 2000);
  EXPECT_EQ(searches.text(searches.run(searches.options(c), 300, 4)[0]), unbounded);
  EXPECT_LT(c->states(), 3000u);
}

TEST(Constraint, WinsOverOtherProcessorsAndIsRefusedBesideSome) {
  Searches searches(tokens());
  const auto c = std::make_shared<Constraint>(regex_grammar("(ab|cd){3}"), searches.trie);
  SearchPlan o = searches.options(c);
  o.no_repeat_ngram = 1;
  o.suppress_ids = {'a', 'c'};
  EXPECT_TRUE(c->allows(searches.text(searches.run(o, 20, 1)[0])));
  o = searches.options(c);
  o.ends = [](std::span<const std::int32_t>, std::span<const std::int32_t>) { return false; };
  expect_refused([&] { searches.run(o, 20, 1); }, "another way to end a text");
  o = searches.options(c);
  o.forced_bos_id = 3;
  expect_refused([&] { searches.run(o, 20, 1); }, "forced BOS");
  // Without an end token, a text ends where nothing may follow.
  o = searches.options(c);
  o.eos_ids.clear();
  EXPECT_TRUE(c->allows(searches.text(searches.run(o, 20, 1)[0])));
  // A row that other options leave without any token ends too, without effect on other rows.
  const auto any = std::make_shared<Constraint>(regex_grammar("[ab]*"), searches.trie);
  o = searches.options(any);
  o.eos_ids.clear();
  o.no_repeat_ngram = 1;
  const std::vector<Request> requests{{.max_length = 6, .number = 1}, {.max_length = 6, .number = 2}};
  RandomStep step(searches.trie->size(), 3);
  for (const auto& found : decode(searches.context, step, {requests, o})) {
    const std::string text = searches.text(found[0]);
    EXPECT_TRUE(any->allows(text)) << text;
    const std::set<std::int32_t> different(found[0].tokens.begin(), found[0].tokens.end());
    EXPECT_EQ(different.size(), found[0].tokens.size()) << text;
  }
}

// All combined: 500 schemas; greedy search, samples, beams and proposals; lengths from the minimum on.
TEST(Constraint, FiveHundredSchemas) {
  const int schemas = test::sanitized ? 50 : 500;  // what a sanitizer can find, it finds in the first ones
  Searches searches(tokens());
  RandomSequence random(2024, 11);
  std::size_t texts = 0, bytes = 0;
  for (int number = 0; number < schemas; ++number) {
    const nlohmann::ordered_json schema = testing::random_schema(random);
    SCOPED_TRACE(fmt::format("schema {}: {}", number, schema.dump()));
    const auto space =
        std::array{JsonSpace::none, JsonSpace::space, JsonSpace::lines}[static_cast<std::size_t>(number % 3)];
    std::shared_ptr<const Constraint> c;
    try {
      c = std::make_shared<Constraint>(json_schema_grammar(schema.dump(), {.space = space}), searches.trie);
    } catch (const Error& error) {
      ADD_FAILURE() << error.what();
      continue;
    }
    const json s = json::parse(schema.dump());
    const auto least = static_cast<std::int32_t>(c->least_tokens()) + 1;
    const auto expect_valid = [&](const Hypothesis& h) {
      ASSERT_FALSE(h.tokens.empty());
      EXPECT_EQ(h.tokens.back(), searches.eos);
      const std::string text = searches.text(h);
      const json value = json::parse(text, nullptr, false);
      ASSERT_FALSE(value.is_discarded()) << text;
      EXPECT_EQ(testing::fault_of(value, s, s), "") << text;
      EXPECT_TRUE(c->allows(text)) << text;
      ++texts, bytes += text.size();
    };
    SearchPlan o = searches.options(c);
    const auto seed = static_cast<std::uint64_t>(number);
    expect_valid(searches.run(o, least + number % 40, seed)[0]);
    o.sampling.on = true, o.n_best = 3, o.sampling.top_k = number % 2 == 0 ? 0 : 20;
    for (const Hypothesis& h : searches.run(o, least + 120, seed)) expect_valid(h);
    if (number % 5 == 0) {
      o = searches.options(c);
      o.beam_size = 4, o.n_best = 2;
      for (const Hypothesis& h : searches.run(o, least + 12, seed)) expect_valid(h);
    }
    if (number % 5 == 1) {
      o = searches.options(c);
      RandomStep step(searches.trie->size(), seed);
      RandomProposer proposer(searches.trie->size());
      const Request request{.max_length = least + 30};
      Speculation counts;
      Speculator speculator({proposer, 3, counts});
      expect_valid(decode(searches.context, step, {{&request, 1}, o, 0, {}}, &speculator)[0][0]);
    }
  }
  EXPECT_GE(texts, 4u * schemas);
  EXPECT_GE(bytes, 200u * schemas) << "texts long enough to say something";
}

}  // namespace
}  // namespace tril::search
