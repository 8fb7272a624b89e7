// Edits of a pass: what they must not move, and what they must.
#include "trace/edit.h"

#include <gtest/gtest.h>

#include "ops/ops.h"
#include "support/contains.h"
#include "support/error_of.h"
#include "trace/traced.h"

namespace tril::trace {
namespace {

TEST(Edit, IsReadFromItsText) {
  const Edit head = parse_edit("decoder.3.self.heads[2]@5=scale -0.5");
  EXPECT_EQ(head.pattern, "decoder.3.self.heads");
  EXPECT_EQ(head.head, 2);
  EXPECT_EQ(head.token, 5);
  EXPECT_EQ(head.action, Edit::Action::scale);
  EXPECT_EQ(head.number, -0.5);
  const Edit token = parse_edit("encoder.tokens@2=a=b");
  EXPECT_TRUE(token.of_tokens());
  EXPECT_EQ(token.piece, "a=b");
  const auto refused = [](const char* text) { return error_of([&] { parse_edit(text); }); };
  EXPECT_TRUE(contains(refused("decoder.3"), "says no action", "POINT"));
  EXPECT_TRUE(contains(refused("decoder.3=zerro"), "no action \"zerro\"", "did you mean", "zero"));
  EXPECT_TRUE(contains(refused("a=scale"), "needs a number"));
  EXPECT_TRUE(contains(refused("a=zero 3"), "takes no number"));
  EXPECT_TRUE(contains(refused("a=temperature 0"), "no number that temperature takes"));
  EXPECT_TRUE(contains(refused("a=window 2.5"), "no number that window takes"));
  EXPECT_TRUE(contains(refused("a=scale nan"), "no number that scale takes"));
  EXPECT_TRUE(contains(refused("a[x]=zero"), "not an index"));
  EXPECT_TRUE(contains(refused("a]=zero"), "not opened"));
  EXPECT_TRUE(contains(refused("a[1]=skip"), "left out for all"));
  EXPECT_TRUE(contains(refused("encoder.tokens=x"), "which token"));
}

// Edits that change no value change no logit: the pass takes the same way.
TEST(Edit, OfNothingIsBitIdentical) {
  for (const char* name : {"gpt2", "marian", "llama", "t5", "bart"}) {
    SCOPED_TRACE(name);
    const auto m = golden(name);
    const Input input = input_of(*m);
    EXPECT_EQ(run_pass(*m, input).logits, traced(*m, input, {}).outcome.logits);
    // Scaled by 1, the values go through the other way, which sums in another order.
    EXPECT_LT(largest(run_pass(*m, input).logits,
                      traced(*m, input, {}, {"*.scores=scale 1", "*.out=scale 1"}).outcome.logits),
              2e-4);
  }
}

// A head whose result is zero is a head whose columns of W_O are zero.
TEST(Edit, AZeroedHeadIsZeroedColumnsOfTheOutputMatrix) {
  const auto m = golden("gpt2");
  const Input input = input_of(*m);
  const Traced t = traced(*m, input, {"decoder.1.self.heads"}, {"decoder.1.self.heads[1]=zero"});
  const std::int64_t heads = t.trace.at("decoder.1.self.heads").shape[1],
                     d = t.trace.at("decoder.1.self.heads").shape[2];
  bool found = false;
  for (nn::Parameter& p : m->parameters().all()) {
    if (!contains(p.name, "h.1.attn.c_proj.weight")) continue;
    found = true;
    ASSERT_EQ(p.shape[1], heads * d);  // [out, in]
    std::vector<float> w = host_copy<float>(p.value);
    for (std::int64_t row = 0; row < p.shape[0]; ++row)
      for (std::int64_t i = d; i < 2 * d; ++i) w[as_size(row * p.shape[1] + i)] = 0;
    m->parameters().set(kern::best(), p, w);
  }
  ASSERT_TRUE(found);
  m->parameters().refresh(kern::best());
  EXPECT_LT(largest(run_pass(*m, input).logits, t.outcome.logits), 1e-5);
}

// Under the mask a token says nothing about earlier ones; without it, everything.
TEST(Edit, WithoutTheMaskTheFutureMovesThePast) {
  for (const char* name : {"gpt2", "llama", "marian"}) {
    SCOPED_TRACE(name);
    const auto m = golden(name);
    const Input input = input_of(*m);
    Input other = input;
    other.tokens[6] = other.tokens[6] == 20 ? 21 : 20;
    const std::vector<double> masked = moved(run_pass(*m, input), run_pass(*m, other));
    const std::vector<std::string> all{"decoder.*.self.mask=all"};
    const std::vector<double> open = moved(traced(*m, input, {}, all).outcome, traced(*m, other, {}, all).outcome);
    for (std::size_t t = 0; t < 6; ++t) {
      EXPECT_EQ(masked[t], 0.0) << t;
      EXPECT_GT(open[t], 1e-6) << t;
    }
    EXPECT_GT(masked[6], 1e-3);
  }
}

TEST(Edit, AWindowOfTheWholeTextIsTheCausalMask) {
  const auto m = golden("gpt2");
  const Input input = input_of(*m);
  const std::vector<float> plain = run_pass(*m, input).logits;
  EXPECT_LT(largest(plain, traced(*m, input, {}, {"*.mask=causal"}).outcome.logits), 2e-4);
  EXPECT_LT(largest(plain, traced(*m, input, {}, {"*.mask=window 9"}).outcome.logits), 2e-4);
  const std::vector<double> narrow = moved(run_pass(*m, input), traced(*m, input, {}, {"*.mask=window 1"}).outcome);
  EXPECT_LT(narrow[0], 2e-4);  // the first token has nobody else to attend to
  EXPECT_GT(narrow[8], 1e-3);
}

TEST(Edit, UniformScoresGiveEqualWeights) {
  const auto m = golden("gpt2");
  const Traced t = traced(*m, input_of(*m), {"decoder.0.self.weights"}, {"decoder.0.self.scores=uniform"});
  const std::vector<float> w = t.trace.at("decoder.0.self.weights").floats();
  for (std::size_t i = 0; i < 9; ++i)
    for (std::size_t k = 0; k <= i; ++k) EXPECT_FLOAT_EQ(w[i * 9 + k], 1.0f / static_cast<float>(i + 1));
}

TEST(Edit, ALowTemperatureMakesAttentionHard) {
  const auto m = golden("gpt2");
  const Traced t = traced(*m, input_of(*m), {"decoder.0.self.weights"}, {"decoder.0.self.scores=temperature 1e-6"});
  const std::vector<float> w = t.trace.at("decoder.0.self.weights").floats();
  for (std::size_t i = 0; i < w.size() / 9; ++i) {
    EXPECT_NEAR(*std::max_element(w.begin() + static_cast<std::ptrdiff_t>(9 * i),
                                  w.begin() + static_cast<std::ptrdiff_t>(9 * i + 9)),
                1, 1e-3);
  }
}

// The last of several equal tokens differs from the others only by the mask if there are no positions.
TEST(Edit, WithoutPositionsOrderIsLost) {
  for (const char* name : {"gpt2", "llama", "bloom", "opt", "t5", "marian"}) {
    SCOPED_TRACE(name);
    const auto m = golden(name);
    Input input = input_of(*m, 5), swapped = input;
    std::swap(swapped.tokens[0], swapped.tokens[3]);
    const auto last = [&](const Input& in, const std::vector<std::string>& edits) {
      const Outcome o = traced(*m, in, {}, edits).outcome;
      return std::vector<float>(o.logits.end() - static_cast<std::ptrdiff_t>(o.vocab), o.logits.end());
    };
    // In one layer the last token sees the same set of tokens; deeper layers see through the mask.
    std::vector<std::string> edits{"decoder*.positions=skip"};
    for (std::int64_t i = 1; traced(*m, input, {"decoder"}).trace.find(fmt::format("decoder.{}.input", i)); ++i)
      edits.push_back(fmt::format("decoder.{}=skip", i));
    EXPECT_LT(largest(last(input, edits), last(swapped, edits)), 1e-4);
    edits.erase(edits.begin());
    EXPECT_GT(largest(last(input, edits), last(swapped, edits)), 1e-4);
  }
}

TEST(Edit, ALayerLeftOutPassesTheStreamOn) {
  const auto m = golden("gpt2");
  const Traced t = traced(*m, input_of(*m), {"*"}, {"decoder.0=skip"});
  EXPECT_EQ(t.trace.find("decoder.0.input"), nullptr);
  EXPECT_EQ(t.trace.at("decoder.1.input").floats(), t.trace.at("decoder.stream").floats());
  const Traced none = traced(*m, input_of(*m), {"*"}, {"decoder.0.self.out=zero", "decoder.0.feed_forward.out=zero"});
  EXPECT_EQ(none.trace.at("decoder.1.input").floats(), none.trace.at("decoder.stream").floats());
}

// With every value of a layer taken from another text, the rest of the pass is that text's.
TEST(Edit, APatchCarriesTheOtherTextOn) {
  const auto m = golden("gpt2");
  const Input input = input_of(*m);
  Input other = input;
  for (std::int32_t& id : other.tokens) id = (id + 17) % 61 + 5;
  const Trace donor = traced(*m, other, {"decoder.0.output"}).trace;
  const Outcome whole = traced(*m, input, {}, {"decoder.0.output=patch"}, false, &donor).outcome;
  EXPECT_EQ(whole.logits, run_pass(*m, other).logits);
  const std::vector<double> one =
      moved(run_pass(*m, input), traced(*m, input, {}, {"decoder.0.output@4=patch"}, false, &donor).outcome);
  for (std::size_t t = 0; t < 4; ++t) EXPECT_EQ(one[t], 0.0);
  EXPECT_GT(one[4], 1e-3);
  EXPECT_TRUE(contains(error_of([&] { traced(*m, input, {}, {"decoder.0.output=patch"}); }), "no other text"));
  const Trace shorter = traced(*m, input_of(*m, 5), {"decoder.0.output"}).trace;
  EXPECT_TRUE(contains(error_of([&] { traced(*m, input, {}, {"decoder.0.output=patch"}, false, &shorter); }),
                       "patch one token"));
}

// A patch without a token changes the tokens of the first text; those that greedy search adds have no other text's values.
TEST(Edit, APatchOfAllTokensStaysWithTheFirstOnes) {
  const auto m = golden("gpt2");
  const Input input = input_of(*m);
  Input other = input;
  std::reverse(other.tokens.begin(), other.tokens.end());
  for (const char* point : {"decoder.1.output", "decoder.1.self.scores"}) {
    SCOPED_TRACE(point);
    const Trace donor = values_of(*m, other, {point});
    const Edit of_all = parse_edit(std::string(point) + "=patch");
    const std::vector<std::int32_t> made =
        greedy(*m, input, 4, {}, {.only = {}, .edits = {&of_all, 1}, .donor = &donor});
    EXPECT_EQ(made.size(), 4u);
    EXPECT_EQ(made[0], traced(*m, input, {}, {of_all.text}, false, &donor).outcome.best().back());
    if (std::string(point).ends_with("scores")) continue;  // of one query, all its keys would be patched
    std::vector<Edit> by_token;
    for (std::size_t t = 0; t < input.tokens.size(); ++t)
      by_token.push_back(parse_edit(fmt::format("{}@{}=patch", point, t)));
    EXPECT_EQ(made, greedy(*m, input, 4, {}, {.only = {}, .edits = by_token, .donor = &donor}));
  }
}

// The result of a shared expert is a part of the sublayer's: a pattern that names both changes the whole once.
TEST(Edit, OfASublayerChangesItsPartsOnce) {
  for (const char* name : {"granitemoeshared", "deepseek_v3"}) {
    SCOPED_TRACE(name);
    const auto m = golden(name);
    const Input input = input_of(*m);
    std::vector<std::string> one_by_one;
    const Trace plain = values_of(*m, input, {"*.feed_forward.out"});
    for (const Value& v : plain.values())
      if (v.name.find("shared") == std::string::npos) one_by_one.push_back(v.name + "=scale 2");
    EXPECT_EQ(traced(*m, input, {}, one_by_one).outcome.logits,
              traced(*m, input, {}, {"*.feed_forward.out=scale 2"}).outcome.logits);
    const std::vector<float> shared = traced(*m, input, {}, {"*.shared.feed_forward.out=scale 2"}).outcome.logits;
    EXPECT_NE(shared, run_pass(*m, input).logits) << "by its own name it can be changed";
  }
}

// A number that float32 cannot hold is refused: scores of infinity would leave a query without attention.
TEST(Edit, AResultBeyondFloat32IsRefused) {
  const auto m = golden("gpt2");
  const Input input = input_of(*m);
  const auto refused = [&](const char* edit) { return error_of([&] { traced(*m, input, {}, {edit}); }); };
  for (const char* edit : {"*.scores=temperature 1e-40", "decoder.0.output=scale 1e300", "*.masked_scores=scale 0"})
    EXPECT_TRUE(contains(refused(edit), edit, "leaves float32")) << refused(edit);
}

// A logit that is not a number has no place among the others: damaged weights are refused, not shown.
TEST(Edit, APassWithoutNumbersIsRefused) {
  const auto m = golden("gpt2");
  bool found = false;
  for (nn::Parameter& p : m->parameters().all()) {
    if (!contains(p.name, "ln_f.weight")) continue;
    found = true;
    m->parameters().set(kern::best(), p, std::vector<float>(as_size(p.shape.count()), std::nanf("")));
  }
  ASSERT_TRUE(found);
  m->parameters().refresh(kern::best());
  EXPECT_TRUE(contains(error_of([&] { run_pass(*m, input_of(*m)); }), "logit is nan", "damaged"));
}

// What nobody waits for any more ends at the next point, in every pass.
TEST(Edit, ATraceEndsWhereItsCheckpointThrows) {
  const auto m = golden("gpt2");
  const Input input = input_of(*m);
  const Edit edit = parse_edit("*.scores=uniform");
  int calls = 0;
  const auto throw_at = [&](int last) {
    calls = 0;
    return [&calls, last] {
      if (++calls >= last) throw Error(ErrorKind::failure, "", "nobody waits");
    };
  };
  Trace none;
  Recorder::Options options{.only = {}, .edits = {&edit, 1}, .checkpoint = throw_at(10)};
  EXPECT_TRUE(contains(error_of([&] {
                         Recorder recorder(none, options);
                         run_pass(*m, input, &recorder);
                       }),
                       "nobody waits"));
  EXPECT_EQ(calls, 10);
  options.edits = {};  // greedy search without edits is watched too
  options.checkpoint = throw_at(2);
  EXPECT_TRUE(contains(error_of([&] { greedy(*m, input, 4, {}, options); }), "nobody waits"));
}

// Edits leave nothing behind in the model, also when one of them fails halfway.
TEST(Edit, TheNextPassIsUntouched) {
  for (const char* name : {"gpt2", "marian"}) {
    SCOPED_TRACE(name);
    const auto m = golden(name);
    const Input input = input_of(*m);
    const std::vector<float> before = run_pass(*m, input).logits;
    EXPECT_NE(traced(*m, input, {"*"}, {"decoder.0=skip", "*.mask=all", "*.scores=uniform"}).outcome.logits, before);
    EXPECT_NE(error_of([&] { traced(*m, input, {}, {"*.self.scores=uniform", "decoder.1.output[0]=zero"}); }), "");
    EXPECT_EQ(run_pass(*m, input).logits, before);
  }
}

TEST(Edit, TheMeanIsThatOverTokens) {
  const auto m = golden("gpt2");
  const Trace plain = traced(*m, input_of(*m), {"decoder.0.self.heads"}).trace;
  const Trace mean = traced(*m, input_of(*m), {"decoder.0.self.heads"}, {"decoder.0.self.heads[0]=mean"}).trace;
  const Value& v = plain.at("decoder.0.self.heads");
  const std::vector<float> a = v.floats(), b = mean.at("decoder.0.self.heads").floats();
  const auto H = as_size(v.shape[1]), d = as_size(v.shape[2]);
  for (std::size_t i = 0; i < d; ++i) {
    double sum = 0;
    for (std::size_t t = 0; t < 9; ++t) sum += static_cast<double>(a[t * H * d + i]);
    for (std::size_t t = 0; t < 9; ++t) {
      EXPECT_NEAR(b[t * H * d + i], sum / 9, 1e-6);
      EXPECT_EQ(b[(t * H + 1) * d + i], a[(t * H + 1) * d + i]);
    }
  }
}

}  // namespace
}  // namespace tril::trace
