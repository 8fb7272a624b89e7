// Training a language model: it learns, resumes bit for bit, and its validation loss is as documented.
#include <gtest/gtest.h>

#include <cmath>

#include "support/training.h"
#include "train/loop/data.h"
#include "train/loop/derived_settings.h"
#include "train/loop/presets.h"
#include "train/loop/settle.h"

namespace tril::train::language_model_test {
namespace {

using test::run_trainer;
using test::Trained;

struct Text {
  Text() {
    RandomSequence random(3, 3);
    const auto some = [&](int words) {
      std::string text;
      for (int i = 0; i < words; ++i) text += std::array{"abc", "bcd", "xyzz", "no"}[random.below(4)];
      return text;
    };
    dir.write("train", some(600));
    dir.write("valid", some(60));
  }
  TrainOptions options(const std::string& model) const {
    TrainOptions o;
    o.model.arch = "gpt2";
    apply_preset(o);
    o.run.model = dir.path(model);
    o.run.threads = 2;
    o.data.train_sets = {dir.path("train")};
    o.data.valid_sets = {dir.path("valid")};
    o.data.vocab_type = SubwordKind::character;
    o.data.max_tokens = 128, o.data.max_length = 16;
    o.model.d_model = 16, o.model.num_heads = 2, o.model.ffn_dim = 32, o.model.dec_depth = 1;
    o.learning.learn_rate = 0.01, o.learning.warmup = 10, o.learning.after = {{20, Unit::updates}};
    o.validation.valid_freq = {{4, Unit::updates}};
    return o;
  }
  TemporaryDirectory dir;
};

TEST(LanguageModel, Learns) {
  const Text text;
  TrainOptions o = text.options("m");
  o.learning.after = {{150, Unit::updates}};
  o.learning.learn_rate = 0.02;
  const Trained run = run_trainer(o);
  EXPECT_NEAR(run.updates.front().loss, std::log(29.0), 0.2) << "nothing is known of LetterTokenizer's 29 ids";
  EXPECT_LT(run.validations.back().scores.cross_entropy, 1.2);
  EXPECT_NEAR(run.validations.back().scores.perplexity, std::exp(run.validations.back().scores.cross_entropy), 1e-6);
}

TEST(LanguageModel, ResumedRunsEqualUndisturbedOnesBitForBit) {
  const Text text;
  const auto options = [&](const std::string& model) {
    TrainOptions o = text.options(model);
    o.run.save_freq = {{3, Unit::updates}};
    return o;
  };
  const Trained whole = run_trainer(options("whole"));
  EXPECT_GT(whole.summary.position.epochs, 0) << "or the test shows less than it should";
  Trained last;
  // The last piece's validation may be broken off; the next one repeats it.
  for (int piece = 0; piece < 50 && (piece == 0 || last.summary.ending == Ending::stopped); ++piece)
    last = run_trainer(options("pieces"), {.stop_after = 1 + piece % 3, .before_update = {}});
  EXPECT_EQ(last.summary.position.updates, 20);
  EXPECT_EQ(last.weights, whole.weights);
  EXPECT_EQ(last.summary.best, whole.summary.best);
}

// The validation loss is the mean over all tokens of the text except the first, each predicted from the preceding
// tokens in its block of --max-length tokens.
TEST(LanguageModel, TheValidationLossIsTheMeanOverConsecutiveBlocks) {
  const Text text;
  TrainOptions o = text.options("m");
  settle(o);
  const auto tokenizer = std::make_shared<test::LetterTokenizer>();
  const auto m = build_model(o.model, *tokenizer);
  m->parameters().initialise(7);
  Optimizer optimizer(m->parameters(), optimizer_options(o.learning));
  Workers workers(*m, optimizer, workers_options(o, *m));
  const Evaluation e = workers.evaluate(validation_batches(o, tokenizer));

  const std::vector<std::int32_t> ids = tokenizer->encode(file_text(text.dir.path("valid")));
  ASSERT_EQ(e.tokens, static_cast<std::int64_t>(ids.size()) - 1);
  Arena arena;
  Context c(arena);
  double sum = 0;
  for (std::size_t begin = 0; begin + 1 < ids.size(); begin += 16) {
    const std::size_t n = std::min<std::size_t>(16, ids.size() - 1 - begin);
    const std::vector<std::int32_t> input(ids.begin() + static_cast<std::ptrdiff_t>(begin),
                                          ids.begin() + static_cast<std::ptrdiff_t>(begin + n));
    const std::vector<std::int32_t> lengths{static_cast<std::int32_t>(n)};
    const std::vector<float> z =
        host_copy<float>(logits(c, *m, m->decode(c, {.ids = input, .rows = Rows::of_lengths(lengths)})));
    for (std::size_t t = 0; t < n; ++t) {
      double total = 0;
      for (std::size_t v = 0; v < 29; ++v) total += std::exp(static_cast<double>(z[t * 29 + v]));
      sum += std::log(total) - static_cast<double>(z[t * 29 + static_cast<std::size_t>(ids[begin + t + 1])]);
    }
  }
  EXPECT_NEAR(e.cross_entropy, sum / static_cast<double>(e.tokens), 1e-5);
}

TEST(LanguageModel, WhatOnlyTranslationHasIsRefused) {
  const Text text;
  const auto says = [&](const std::function<void(TrainOptions&)>& change, const std::string& part) {
    TrainOptions o = text.options("m");
    change(o);
    const std::string e = error_of([&] { settle(o); });
    EXPECT_TRUE(contains(e, part)) << e;
  };
  says([](TrainOptions& o) { o.data.train_sets.push_back("b"); }, "train_sets");
  says([](TrainOptions& o) { o.data.valid_sets.push_back("b"); }, "valid_sets");
  says([](TrainOptions& o) { o.data.tsv = true; }, "train_sets");
  says([](TrainOptions& o) { o.data.vocab_type = SubwordKind::unigram; }, "vocab_type");
  says([](TrainOptions& o) { o.validation.valid_metrics = {Metric::bleu}; }, "valid_metrics");
  says([](TrainOptions& o) { o.model.max_positions = 99; }, "max_positions");
  says([](TrainOptions& o) { o.data.max_tokens = 8; }, "max_tokens");
  says([](TrainOptions& o) { o.model.activation_dropout = 0.1; }, "activation_dropout");
  says([](TrainOptions& o) { o.learning.lr_min = 0.1; }, "lr_min");
}

// AdamW's decay [Loshchilov & Hutter 2019] only on matrices: with a zero gradient, norms and biases stay unchanged.
TEST(LanguageModel, DecayMayLeaveNormsAndBiasesAlone) {
  const Text text;
  TrainOptions o = text.options("m");
  settle(o);
  for (bool only : {true, false}) {
    o.learning.decay_matrices_only = only;
    const auto m = build_model(o.model, test::LetterTokenizer());
    m->parameters().initialise(7);
    Optimizer optimizer(m->parameters(), optimizer_options(o.learning));
    const std::vector<float> before = host_copy<float>(m->parameters().flat());
    Tensor gradient = lasting_zeros(m->parameters().flat().count());
    const kern::Kernels& k = kern::best();
    optimizer.gather(k, {}, std::span(&gradient, 1));
    optimizer.step(k, {}, gradient, {.rate = 1.0, .gradient_scale = 1.0});
    const std::vector<float> after = host_copy<float>(m->parameters().flat());
    for (const nn::Parameter& p : m->parameters().all()) {
      const auto at = static_cast<std::size_t>(m->parameters().offset_of(p));
      const bool decays = !only || p.shape.rank() > 1;
      for (std::size_t i = at; i < at + static_cast<std::size_t>(p.shape.count()); ++i)
        ASSERT_NEAR(after[i], before[i] * (decays ? 0.9f : 1.0f), 1e-6) << p.name;
    }
  }
}

}  // namespace
}  // namespace tril::train::language_model_test
