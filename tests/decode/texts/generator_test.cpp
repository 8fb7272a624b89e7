// From prompts to text with a small language model: what must not affect the result, how generation ends, what is
// reported during it, and how texts are scored.
#include "decode/texts/generator.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "decode/texts/text_score.h"
#include "decode/texts/text_stream.h"
#include "model/families/gpt2.h"
#include "model/families/linear_decoder.h"
#include "support/small_tokenizer.h"
#include "tokenizer/files/gpt2_tokenizer.h"

namespace tril::search {
namespace {

const std::string letters = "abcdefgh \n\u00e9\u20ac\U0001f600";  // of one to four bytes

struct LanguageModel {
  explicit LanguageModel(std::int64_t positions = 24) {
    tokenizer = make_character_tokenizer(letters, static_cast<std::int32_t>(positions));
    model::Gpt2Config k;
    k.vocab_size = tokenizer->size(Side::target) + 3;  // three rows that no token has
    k.n_positions = positions;
    k.n_embd = 32, k.n_layer = 2, k.n_head = 4;
    k.initializer_range = 0.5;  // so that the next token depends on the previous ones
    k.bos_token_id = k.eos_token_id = tokenizer->special(Side::target).eos;
    m = std::make_unique<model::Gpt2>(k);
    m->parameters().allocate();
    m->parameters().initialise(3);
    m->parameters().refresh(kern::best());
  }
  GeneratorOptions options(std::int32_t new_tokens = 12) const {
    GeneratorOptions o;
    o.max_new_tokens = new_tokens;
    o.decoding.search.scores = true;
    o.decoding.search.eos_ids = {m->special_ids().eos};
    return o;
  }
  GeneratorOptions sampled(std::int32_t samples) const {
    GeneratorOptions o = options();
    o.decoding.search.sampling.on = true;
    o.decoding.search.sampling.temperature = 1.5;
    o.decoding.search.n_best = samples;
    return o;
  }
  std::shared_ptr<const Tokenizer> tokenizer;
  std::unique_ptr<model::Gpt2> m;
};

std::vector<std::string> prompts() {
  std::vector<std::string> list;
  RandomSequence random(4, 4);
  for (int i = 0; i < 23; ++i) {
    std::string text;
    for (std::uint64_t n = random.below(10); n > 0; --n) text += letters[random.below(8)];
    list.push_back(text);
  }
  return list;
}

using Results = std::vector<std::vector<Generation>>;

void expect_same(const Results& got, const Results& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(got[i].size(), expected[i].size());
    for (std::size_t n = 0; n < got[i].size(); ++n) {
      EXPECT_EQ(got[i][n].text, expected[i][n].text) << i << " " << n;
      EXPECT_EQ(got[i][n].tokens, expected[i][n].tokens) << i << " " << n;
      EXPECT_EQ(got[i][n].stop_reason, expected[i][n].stop_reason) << i << " " << n;
      EXPECT_NEAR(got[i][n].log_prob, expected[i][n].log_prob, 1e-3) << i << " " << n;
    }
  }
}

// Greedy, samples, a beam, and all penalties at once.
std::vector<GeneratorOptions> ways(const LanguageModel& lm) {
  std::vector<GeneratorOptions> list{lm.options(), lm.sampled(3), lm.options(), lm.sampled(2)};
  list[2].decoding.search.beam_size = 3;
  list[2].decoding.search.repetition_penalty = 1.2;
  SearchPlan& s = list[3].decoding.search;
  s.repetition_penalty = 1.3, s.presence_penalty = 0.2, s.frequency_penalty = 0.1, s.no_repeat_ngram = 3;
  s.sampling.top_k = 9, s.sampling.top_p = 0.95, s.sampling.min_p = 0.01, s.sampling.typical_p = 0.9;
  list[3].min_new_tokens = 4;
  list[3].stops = {"ab", "\u00e9"};
  return list;
}

TEST(Generator, CacheBatchesAndWorkersDoNotMatter) {
  const LanguageModel lm;
  const std::vector<std::string> texts = prompts();
  for (GeneratorOptions o : ways(lm)) {
    o.decoding.batch_size = 1;
    const Results alone = Generator(*lm.m, lm.tokenizer, o).generate(texts);
    for (const auto& [batch, threads, cache] :
         {std::tuple{7, 1, true}, {64, 1, true}, {4, 3, true}, {64, 1, false}, {1, 2, false}}) {
      SCOPED_TRACE(fmt::format("batches of {}, {} threads, cache {}", batch, threads, cache));
      o.decoding.batch_size = batch, o.decoding.threads = threads, o.decoding.session.cache.use = cache;
      expect_same(Generator(*lm.m, lm.tokenizer, o).generate(texts), alone);
    }
    // Prompts passed one by one are numbered consecutively.
    Generator later(*lm.m, lm.tokenizer, o);
    Results one_by_one;
    for (const std::string& text : texts) one_by_one.push_back(later.generate(std::span(&text, 1))[0]);
    expect_same(one_by_one, alone);
  }
}

// Linear attention keeps one state per text instead of keys and values: texts, beams and samples equal full
// recomputation, whatever the batch and however prompts are read.
TEST(Generator, StatesAreThoseOfFullRecomputation) {
  const LanguageModel lm;
  model::LinearDecoderConfig k;
  k.vocab_size = lm.m->vocab_size();
  k.d_model = 32, k.num_heads = 4, k.d_ff = 64, k.num_layers = 2;
  k.eos_token_id = lm.m->special_ids().eos;
  model::LinearDecoder linear(k);
  linear.parameters().allocate();
  linear.parameters().initialise(3);
  for (nn::Parameter& p : linear.parameters().all())
    if (p.shape.rank() == 2) {  // so that the next token depends on the previous ones
      std::vector<float> values = host_copy<float>(p.value);
      for (float& v : values) v *= 3;
      linear.parameters().set(kern::best(), p, values);
    }
  linear.parameters().refresh(kern::best());
  const std::vector<std::string> texts = prompts();
  for (GeneratorOptions o : ways(lm)) {
    o.decoding.batch_size = 1, o.decoding.session.cache.use = false;
    const Results whole = Generator(linear, lm.tokenizer, o).generate(texts);
    std::set<std::string> different;
    for (const auto& list : whole) different.insert(list[0].text);
    EXPECT_GT(different.size(), 5u) << "or the test shows nothing";
    o.decoding.session.cache.use = true;
    for (const auto& [batch, threads, chunk] : {std::tuple{1, 1, 1000}, {5, 1, 1}, {7, 2, 3}, {64, 1, 1000}}) {
      SCOPED_TRACE(fmt::format("batches of {}, {} threads, chunks of {}", batch, threads, chunk));
      o.decoding.batch_size = batch, o.decoding.threads = threads, o.decoding.session.cache.prompt_chunk = chunk;
      expect_same(Generator(linear, lm.tokenizer, o).generate(texts), whole);
    }
  }
  const auto refusal = [&](const auto& change) {
    GeneratorOptions o = lm.options();
    change(o.decoding);
    try {
      Generator(linear, lm.tokenizer, o).generate(texts);
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string("nothing was refused");
  };
  const auto expect_refused = [](const std::string& text, const char* what) {
    EXPECT_NE(text.find(what), std::string::npos) << text;
  };
  expect_refused(refusal([](auto& o) { o.session.cache.kept.window = 4; }), "attention window");
  expect_refused(refusal([](auto& o) { o.session.cache.kept.precision = nn::KvCache::Precision::int8; }),
                 "cache precision");
  expect_refused(refusal([&](auto& o) { o.session.speculative.draft = &linear; }), "cannot undo");
  expect_refused(refusal([](auto& o) { o.session.speculative.lookup = 2; }), "cannot undo");
  GeneratorOptions drafted = lm.options();
  drafted.decoding.session.speculative.draft = &linear;
  try {
    Generator(*lm.m, lm.tokenizer, drafted).generate(texts);
    ADD_FAILURE() << "a recurrent draft was not refused";
  } catch (const Error& e) {
    expect_refused(e.what(), "draft model");
    expect_refused(e.what(), "cannot be one: its recurrent state cannot undo tokens");
  }
}

// Prompts read in small chunks, with and without a window, give the same results as in one step.
TEST(Generator, ChunksAndWindowsAreThoseOfFullRecomputation) {
  const LanguageModel lm;
  const std::vector<std::string> texts = prompts();
  for (GeneratorOptions o : ways(lm))
    for (const auto& [window, sinks] : {std::pair{0, 0}, {3, 0}, {4, 2}, {1, 1}}) {
      o.decoding.session.cache = {.use = false, .kept = {.window = window, .sinks = sinks}};
      o.decoding.batch_size = 5;
      const Results whole = Generator(*lm.m, lm.tokenizer, o).generate(texts);
      o.decoding.session.cache.use = true;
      for (const std::int32_t chunk : {1, 3, 7, 1000}) {
        SCOPED_TRACE(fmt::format("window {}, {} sinks, chunks of {}", window, sinks, chunk));
        o.decoding.session.cache.prompt_chunk = chunk;
        expect_same(Generator(*lm.m, lm.tokenizer, o).generate(texts), whole);
      }
    }
}

TEST(Generator, ACacheOfEightBitsComesNear) {
  const LanguageModel lm;
  const std::vector<std::string> texts = prompts();
  GeneratorOptions o = lm.options();
  const Results exact = Generator(*lm.m, lm.tokenizer, o).generate(texts);
  o.decoding.session.cache.kept.precision = nn::KvCache::Precision::int8;
  const Results alone = Generator(*lm.m, lm.tokenizer, o).generate(texts);
  std::size_t same = 0;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (alone[i][0].tokens != exact[i][0].tokens) continue;
    ++same;
    EXPECT_NEAR(alone[i][0].log_prob, exact[i][0].log_prob, 0.5) << i;
  }
  EXPECT_GE(same, texts.size() * 2 / 3);
  o.decoding.session.cache.prompt_chunk = 2, o.decoding.batch_size = 3;
  expect_same(Generator(*lm.m, lm.tokenizer, o).generate(texts), alone);
  o.decoding.session.cache.use = false;
  EXPECT_THROW(Generator(*lm.m, lm.tokenizer, o), Error) << "there is no cache to be of 8 bits";
  o.decoding.session.cache = {.kept = {.sinks = 3}};
  EXPECT_THROW(Generator(*lm.m, lm.tokenizer, o), Error) << "sinks of no window";
}

TEST(Generator, LogProbabilitiesAreThoseOfScoring) {
  const LanguageModel lm;
  WorkerPool workers(2);
  const std::vector<std::string> texts = prompts();
  for (GeneratorOptions o : {lm.options(), lm.sampled(2)}) {
    Generator generator(*lm.m, lm.tokenizer, o);
    const Results found = generator.generate(texts);
    for (std::size_t i = 0; i < texts.size(); ++i)
      for (const Generation& g : found[i]) {
        std::vector<std::int32_t> ids = generator.text().prompt_ids(texts[i], "prompt");
        const std::size_t given = ids.size();
        ids.insert(ids.end(), g.tokens.begin(), g.tokens.end());
        const Score score = score_texts(workers, *lm.m, std::span(&ids, 1), {})[0];
        double sum = 0;
        for (std::size_t t = given - 1; t < score.token_log_probs.size(); ++t) sum += score.token_log_probs[t];
        EXPECT_NEAR(g.log_prob, sum, 1e-3);
      }
  }
}

TEST(Generator, TextIsToldAsItComesAndEndsBeforeStops) {
  const LanguageModel lm;
  const std::vector<std::string> texts = prompts();
  int stopped = 0;
  for (GeneratorOptions o : {lm.options(16), lm.sampled(4)}) {
    o.stops = {"b", "c\u00e9", "\U0001f600 "};
    o.decoding.batch_size = 5, o.decoding.threads = 2;
    std::map<std::pair<std::size_t, std::int32_t>, std::string> told;
    std::set<std::pair<std::size_t, std::int32_t>> ended;
    Generator generator(*lm.m, lm.tokenizer, o);
    const Results found = generator.generate(texts, [&](const TextPiece& piece) {
      told[{piece.prompt, piece.sample}] += piece.text;
      EXPECT_FALSE(ended.contains({piece.prompt, piece.sample}));
      if (piece.ended) ended.insert({piece.prompt, piece.sample});
    });
    for (std::size_t i = 0; i < found.size(); ++i)
      for (std::size_t n = 0; n < found[i].size(); ++n) {
        EXPECT_EQ(found[i][n].text, (told[{i, static_cast<std::int32_t>(n)}]));
        EXPECT_EQ(find_stop(found[i][n].text, o.stops), std::string::npos);
        if (found[i][n].stop_reason != StopReason::stop) continue;
        ++stopped;
        const std::string all = lm.tokenizer->decode(found[i][n].tokens);
        EXPECT_EQ(all.substr(0, found[i][n].text.size()), found[i][n].text);
        EXPECT_NE(find_stop(all, o.stops), std::string::npos);
      }
    EXPECT_EQ(ended.size(), texts.size() * static_cast<std::size_t>(o.decoding.search.n_best));
  }
  EXPECT_GT(stopped, 3);
}

TEST(Generator, BeamsEndAtStopsToo) {
  const LanguageModel lm;
  GeneratorOptions o = lm.options(16);
  o.decoding.search.beam_size = o.decoding.search.n_best = 4;
  o.stops = {"b", "d", "f"};
  int stopped = 0;
  for (const auto& list : Generator(*lm.m, lm.tokenizer, o).generate(prompts()))
    for (const Generation& g : list) {
      EXPECT_EQ(find_stop(g.text, o.stops), std::string::npos);
      if (g.stop_reason == StopReason::stop) {
        ++stopped;
        const std::string all = lm.tokenizer->decode(g.tokens);
        EXPECT_EQ(all.size(), g.text.size() + 1);
        EXPECT_NE(std::string("bdf").find(all.back()), std::string::npos);
      }
    }
  EXPECT_GT(stopped, 0);
}

TEST(Generator, EndsWhereThePositionsAreFull) {
  const LanguageModel lm;
  GeneratorOptions o = lm.options();
  o.decoding.search.eos_ids = {};
  o.max_new_tokens.reset();
  const std::vector<std::string> texts{"abc", std::string(24, 'a'), ""};
  const Results found = Generator(*lm.m, lm.tokenizer, o).generate(texts);
  for (const auto& [i, tokens] : {std::pair{0u, 22u}, {1u, 1u}, {2u, 24u}}) {
    EXPECT_EQ(found[i][0].tokens.size(), tokens) << "the last token needs no position";
    EXPECT_EQ(found[i][0].stop_reason, StopReason::positions);
  }
  o.max_new_tokens = 22;
  EXPECT_EQ(Generator(*lm.m, lm.tokenizer, o).generate(std::span(texts).first(1))[0][0].stop_reason,
            StopReason::length);
  o.max_new_tokens.reset(), o.max_length = 10;
  const Generation g = Generator(*lm.m, lm.tokenizer, o).generate(std::span(texts).first(1))[0][0];
  EXPECT_EQ(g.tokens.size(), 7u);
  EXPECT_EQ(g.stop_reason, StopReason::length);
  o.max_length = 24;  // as in directories
  EXPECT_EQ(Generator(*lm.m, lm.tokenizer, o).generate(std::span(texts).first(1))[0][0].stop_reason,
            StopReason::positions);
  o.max_length = 2;
  EXPECT_EQ(Generator(*lm.m, lm.tokenizer, o).generate(std::span(texts).first(1))[0][0].tokens.size(), 1u);
}

TEST(Generator, PromptsThatCannotBeReadAreErrors) {
  const LanguageModel lm;
  Generator generator(*lm.m, lm.tokenizer, lm.options());
  try {
    generator.generate(std::vector<std::string>{"a", std::string(25, 'a')});
    FAIL() << "a prompt beyond the positions was read";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("prompt 2: has 25 tokens, but the model has 24 positions"), std::string::npos)
        << e.what();
  }
  generator.generate(std::vector<std::string>{"aXb"});
  EXPECT_EQ(generator.unknown(), 1);
}

TEST(Generator, PromptsThatCannotBeReadMayBePassedOver) {
  const LanguageModel lm;
  GeneratorOptions o = lm.options();
  const auto expected = Generator(*lm.m, lm.tokenizer, o).generate(std::vector<std::string>{"a", "b"});
  o.pass_over_refused = true;
  Generator generator(*lm.m, lm.tokenizer, o);
  std::vector<std::string> told(3);
  std::vector<int> ended(3);
  const auto found =
      generator.generate(std::vector<std::string>{"a", std::string(25, 'a'), "b"},
                         [&](const TextPiece& p) { told[p.prompt] += p.text, ended[p.prompt] += p.ended; });
  ASSERT_EQ(found.size(), 3u);
  expect_same({found[0], found[2]}, expected);
  EXPECT_EQ(found[1].at(0).stop_reason, StopReason::refused);
  EXPECT_EQ(told, (std::vector<std::string>{found[0][0].text, "", found[2][0].text}));
  EXPECT_EQ(ended, (std::vector<int>{1, 1, 1}));
  EXPECT_EQ(generator.refused(), 1);
  EXPECT_NE(generator.first_refusal().find("prompt 2: has 25 tokens"), std::string::npos);
}

TEST(Generator, TheLeastLengthIsOfTheWholeTextWhereNothingElseIsSaid) {
  const LanguageModel lm;
  const std::vector<std::string> texts{"abcabc"};
  GeneratorOptions o = lm.options();
  o.decoding.search.eos_ids.push_back(lm.tokenizer->encode("a", Side::target)[0]);
  o.decoding.search.logit_bias = {{o.decoding.search.eos_ids[1], 50.0f}};  // the end token, as early as possible
  EXPECT_EQ(Generator(*lm.m, lm.tokenizer, o).generate(texts)[0][0].tokens.size(), 1u);
  o.min_length = 10;
  EXPECT_EQ(Generator(*lm.m, lm.tokenizer, o).generate(texts)[0][0].tokens.size(), 5u) << "the end behind ten";
  o.min_new_tokens = 2;
  EXPECT_EQ(Generator(*lm.m, lm.tokenizer, o).generate(texts)[0][0].tokens.size(), 3u);
}

TEST(Generator, WhatIsForbiddenIsNotAmongTheLikeliest) {
  const LanguageModel lm;
  GeneratorOptions o = lm.options(3);
  o.decoding.search.top_log_probs = 30;
  for (std::int32_t id = 0; id < 6; ++id) o.decoding.search.suppress_ids.push_back(id);
  const auto found = Generator(*lm.m, lm.tokenizer, o).generate(std::vector<std::string>{"g"});
  for (const TokenScore& s : found[0][0].token_scores)
    for (const Candidate& top : s.top) EXPECT_TRUE(top.token == -1 || (top.token >= 6 && std::isfinite(top.log_prob)));
}

TEST(Generator, TokensWithoutTextNeverCome) {
  const LanguageModel lm;
  GeneratorOptions o = lm.sampled(200);
  o.decoding.search.sampling.temperature = 100;
  const Results found = Generator(*lm.m, lm.tokenizer, o).generate(std::vector<std::string>{"a"});
  for (const Generation& g : found[0])
    for (std::int32_t id : g.tokens) EXPECT_LT(id, lm.tokenizer->size(Side::target));
}

// SentencePiece pieces include the preceding blank, which is hidden at the start of a text.
TEST(TextStream, AStopMayBeginWithABlank) {
  const std::shared_ptr<const Tokenizer> tokenizer = test::small_tokenizer();
  const auto ids = [&](const std::string& text) {
    std::vector<std::int32_t> list;
    tokenizer->encode(text, Side::target, list);
    return list;
  };
  const std::vector<std::int32_t> given = ids("the dog"), more = ids("runs and the old");
  const auto ends = stop_test(tokenizer, {" runs"});
  EXPECT_TRUE(ends(given, ids("runs")));
  EXPECT_FALSE(ends({}, ids("runs")));
  std::vector<std::int32_t> late = more;
  for (const std::int32_t id : ids("runs")) late.push_back(id);
  EXPECT_TRUE(ends(given, late));
  EXPECT_FALSE(stop_test(tokenizer, {" runs"})(given, ids("snow")));
}

// Byte by byte: the stream delivers whole characters, and in total equals decoding.
TEST(TextStream, HoldsBackWhatMayGoOn) {
  Gpt2Parts parts;
  for (int b = 0; b < 256; ++b) parts.table.add(gpt2_letters(std::string(1, static_cast<char>(b))));
  parts.table.add(parts.end_of_text);
  const std::shared_ptr<const Tokenizer> bytes = make_gpt2_tokenizer(std::move(parts));
  TextStream text(bytes, {"stop"});
  std::vector<std::string> pieces;
  for (const char byte : std::string("h\u00e9 \u20ac\U0001f600 sto\u00e9 ststop it"))
    pieces.push_back(text.push(static_cast<unsigned char>(byte)));
  EXPECT_EQ(pieces, (std::vector<std::string>{"h", "",           "\u00e9", " ", "", "", "\u20ac", "",          "",
                                              "",  "\U0001f600", " ",      "",  "", "", "",       "sto\u00e9", " ",
                                              "",  "",           "st",     "",  "", "", "",       "",          ""}));
  EXPECT_TRUE(text.stopped());
  EXPECT_EQ(text.finish(), "");

  RandomSequence random(9, 9);
  for (int i = 0; i < 300; ++i) {
    std::vector<std::int32_t> ids;
    for (std::uint64_t n = random.below(12); n > 0; --n)
      ids.push_back(std::array{0x61, 0xc3, 0xa9, 0xe2, 0x82, 0xac, 0xff, 256}[random.below(8)]);
    TextStream stream(bytes, {});
    std::string all;
    for (std::int32_t id : ids) all += stream.push(id);
    all += stream.finish();
    EXPECT_EQ(all, bytes->decode(ids));
  }
}

// log p of the token after `context`, read from position 0.
double log_prob_of(const LanguageModel& lm, std::span<const std::int32_t> context, std::int32_t next) {
  Arena arena;
  Context c(arena);
  Rows rows;
  rows.append(static_cast<std::int32_t>(context.size()));
  const Tensor hidden = lm.m->decode(c, {.ids = context, .rows = rows, .memory_rows = {}});
  const std::vector<float> x =
      host_copy<float>(model::logits(c, *lm.m, hidden.rows(hidden.size(0) - 1, hidden.size(0))));
  double sum = 0;
  for (float v : x) sum += std::exp(static_cast<double>(v));
  return static_cast<double>(x[static_cast<std::size_t>(next)]) - std::log(sum);
}

TEST(TextScore, EveryTokenIsScoredOnceBehindTheContextThatItsWindowHas) {
  const LanguageModel lm(8);
  WorkerPool workers(2);
  std::vector<std::vector<std::int32_t>> texts;
  RandomSequence random(5, 5);
  for (const std::size_t length : {0, 1, 2, 8, 9, 10, 31}) {
    texts.emplace_back();
    for (std::size_t i = 0; i < length; ++i) texts.back().push_back(static_cast<std::int32_t>(random.below(8)));
  }
  for (const std::int64_t stride : {0, 1, 3, 8}) {
    const auto scores = score_texts(workers, *lm.m, texts, {.stride = stride, .batch_size = 3});
    const std::size_t step = stride == 0 ? 4 : static_cast<std::size_t>(stride);
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const auto& ids = texts[i];
      ASSERT_EQ(scores[i].token_log_probs.size(), ids.empty() ? 0 : ids.size() - 1);
      double sum = 0;
      for (std::size_t t = 1; t < ids.size(); ++t) {
        std::size_t begin = 0;  // of the first window that includes token t
        while (begin + 8 < t) begin += step;
        const double expected = log_prob_of(lm, std::span(ids).subspan(begin, t - begin), ids[t]);
        EXPECT_NEAR(scores[i].token_log_probs[t - 1], expected, 1e-4) << "token " << t << " of " << ids.size();
        sum += expected;
      }
      EXPECT_NEAR(scores[i].log_prob, sum, 1e-3);
    }
  }
  EXPECT_THROW(score_texts(workers, *lm.m, texts, {.context = 9}), Error);
  EXPECT_THROW(score_texts(workers, *lm.m, texts, {.context = 4, .stride = 5}), Error);
}

}  // namespace
}  // namespace tril::search
