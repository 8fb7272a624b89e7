// Shared by tests of constraints: a BPE-like vocabulary, random steps and proposals, searches under constraints.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "decode/batches/decode.h"
#include "decode/batches/speculator.h"
#include "grammar/automata/constraint.h"
#include "grammar/automata/grammar_text.h"
#include "grammar/schemas/json_schema.h"

namespace tril::search {

// All bytes, and pieces of several bytes as BPE makes them: they begin and end anywhere, even within characters.
inline std::vector<std::string> vocabulary(std::int64_t pieces, std::uint64_t seed) {
  std::vector<std::string> list;
  for (int b = 0; b < 256; ++b) list.emplace_back(1, static_cast<char>(b));
  for (const char* piece : {"{\"",      "\":",   "\": ", "\", \"", "\",\"", "},",   "}]",   "true",  "false",
                            "null",     "[[",    "[{",   " \"",    "\\u00", "name", "kind", "value", "\xc3\xa9",
                            "\x9f\x98", "\xa9t", "00",   "123",    "-",     "e-",   "0.5",  "foo",   "next\": "})
    list.emplace_back(piece);
  RandomSequence random(seed, 2);
  const std::string letters = "abcxyz019 \"\\:,{}[]\n";
  while (static_cast<std::int64_t>(list.size()) < pieces) {
    std::string text;
    for (std::uint64_t n = 2 + random.below(6); n > 0; --n) text += letters[random.below(letters.size())];
    list.push_back(text);
  }
  list.emplace_back();  // the end token
  return list;
}

inline std::shared_ptr<const TokenTrie> tokens(std::int64_t pieces = 600) {
  return std::make_shared<TokenTrie>(vocabulary(pieces, 5));
}

// A schema's grammar, ignoring its notes.
inline Grammar json_schema_grammar(std::string_view schema, const JsonStyle& style = {}) {
  return compile_json_schema(schema, style).grammar;
}

inline Constraint of_regex(std::string_view regex) {
  return {regex_grammar(regex), tokens()};
}
inline Constraint of_schema(const std::string& schema, JsonSpace space = JsonSpace::space) {
  return {json_schema_grammar(schema, {.space = space}), tokens()};
}

// Random logits, new for every token of every row.
class RandomStep : public Step {
 public:
  RandomStep(std::int64_t vocab_size, std::uint64_t seed) : vocab_size_(vocab_size), random_(seed, 9) {}
  std::int64_t vocab_size() const override { return vocab_size_; }
  StepOutput step(Context& c, const StepInput& input) override {
    std::int64_t rows = 0;
    for (std::size_t r = 0; r < input.counts.size(); ++r) rows += input.answers.empty() ? 1 : input.answers[r];
    std::vector<float> x;
    for (std::int64_t i = 0; i < rows * vocab_size_; ++i) x.push_back(3 * static_cast<float>(random_.normal()));
    return {.logits = c.upload<float>(x, {rows, vocab_size_})};
  }

 private:
  std::int64_t vocab_size_;
  RandomSequence random_;
};

// Proposes random tokens.
class RandomProposer : public Proposer {
 public:
  explicit RandomProposer(std::int64_t vocab_size) : vocab_size_(vocab_size), random_(8, 8) {}
  void propose(Context&, const Drafts& drafts, std::vector<std::vector<std::int32_t>>& proposals) override {
    proposals.assign(drafts.rows.size(), {});
    for (std::size_t r = 0; r < drafts.rows.size(); ++r)
      for (std::int32_t i = 0; i < drafts.rows[r].most; ++i)
        proposals[r].push_back(static_cast<std::int32_t>(random_.below(static_cast<std::uint64_t>(vocab_size_))));
  }

 private:
  std::int64_t vocab_size_;
  RandomSequence random_;
};

struct Searches {
  explicit Searches(std::shared_ptr<const TokenTrie> of) : trie(std::move(of)), context(arena) {
    eos = static_cast<std::int32_t>(trie->size()) - 1;
  }
  SearchPlan options(std::shared_ptr<const Constraint> constraint) const {
    SearchPlan o;
    o.eos_ids = {eos};
    o.constraint = std::move(constraint);
    return o;
  }
  std::string text(const Hypothesis& h) const {
    std::string all;
    for (const std::int32_t token : h.tokens) all += trie->bytes(token);
    return all;
  }
  std::vector<Hypothesis> run(const SearchPlan& o, std::int32_t max_length, std::uint64_t seed) {
    RandomStep step(trie->size(), seed);
    const Request request{.max_length = max_length, .number = seed};
    return decode(context, step, {{&request, 1}, o})[0];
  }
  std::shared_ptr<const TokenTrie> trie;
  Arena arena;
  Context context;
  std::int32_t eos;
};

inline void expect_refused(const std::function<void()>& make, const std::string& expected) {
  try {
    make();
    ADD_FAILURE() << "taken, and should be refused: " << expected;
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(expected), std::string::npos) << error.what() << "\nlacks " << expected;
  }
}

}  // namespace tril::search
