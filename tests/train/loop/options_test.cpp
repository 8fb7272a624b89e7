#include "train/loop/options.h"

#include <gtest/gtest.h>

#include "support/temporary.h"
#include "train/loop/presets.h"
#include "train/loop/settle.h"
#include "train/loop/stored_options.h"

namespace tril::train {
namespace {

TrainOptions valid() {
  TrainOptions o;
  o.run.model = "m";
  o.data.train_sets = {"a", "b"};
  return o;
}

TEST(TrainOptions, DefaultsAreThePresetsAndSettle) {
  TrainOptions o = valid(), preset = valid();
  apply_preset(preset);
  EXPECT_EQ(to_json(fields_of(o)), to_json(fields_of(preset)));
  EXPECT_NO_THROW(settle(o));
}

TEST(TrainOptions, PresetsAreThePapersSizes) {
  TrainOptions o = valid();
  o.model.preset = Preset::base;
  apply_preset(o);
  EXPECT_EQ(o.model.d_model, 512);
  EXPECT_EQ(o.model.num_heads, 8);
  EXPECT_EQ(o.model.ffn_dim, 2048);
  EXPECT_EQ(o.model.enc_depth, 6);
  EXPECT_DOUBLE_EQ(o.model.dropout, 0.1);
  o.model.preset = Preset::big;
  apply_preset(o);
  EXPECT_EQ(o.model.d_model, 1024);
  EXPECT_EQ(o.model.ffn_dim, 4096);
}

TEST(TrainOptions, ContradictionsSayWhichOption) {
  const auto says = [](const std::function<void(TrainOptions&)>& spoil, const std::string& where) {
    TrainOptions o = valid();
    spoil(o);
    const std::string text = error_of([&] { settle(o); });
    EXPECT_TRUE(contains(text, where)) << "\"" << text << "\" lacks " << where;
  };
  says([](TrainOptions& o) { o.model.num_heads = 3; }, "num_heads");
  says([](TrainOptions& o) { o.model.d_model = 9, o.model.num_heads = 3; }, "d_model");
  says([](TrainOptions& o) { o.data.train_sets = {"a"}; }, "train_sets");
  says([](TrainOptions& o) { o.data.valid_sets = {"a", "b", "c"}; }, "valid_sets");
  says([](TrainOptions& o) { o.data.tsv = true, o.data.train_sets.clear(); }, "train_sets");
  says([](TrainOptions& o) { o.data.train_sets = {"a", "b", "c"}; }, "train_sets");
  says([](TrainOptions& o) { o.data.data_weighting = {"a", "b"}; }, "data_weighting: expected one for each of 1");
  says([](TrainOptions& o) { o.data.language_tags = {">>de<<", ">>fr<<"}; }, "language_tags");
  says([](TrainOptions& o) { o.data.corpus_weights = {1, 2}; }, "corpus_weights");
  says(
      [](TrainOptions& o) {
        o.data.language_tags = {">>de<<"}, o.data.valid_sets = {"a", "b", "c", "d"};
      },
      "valid_sets");
  says([](TrainOptions& o) { o.data.bpe_dropout_sides = Sides::source; }, "bpe_dropout_sides");
  says([](TrainOptions& o) { o.data.max_length = 600; }, "max_length");
  says([](TrainOptions& o) { o.validation.early_stopping = 3; }, "early_stopping");
  says([](TrainOptions& o) { o.validation.valid_metrics = {Metric::bleu}; }, "valid_metrics");
  says([](TrainOptions& o) { o.learning.ema = 0.9, o.learning.average_checkpoints = 3; }, "average_checkpoints");
  says([](TrainOptions& o) { o.learning.lr_schedule = ScheduleKind::cosine; }, "lr_schedule");
  says(
      [](TrainOptions& o) { o.learning.optimizer_bits = StateBits::eight, o.learning.optimizer = OptimizerKind::lion; },
      "optimizer_bits: 8 bits are for the moments of adam and adamw");
  says([](TrainOptions& o) { o.data.documents = Documents::lines; }, "documents: is for language models");
  says(
      [](TrainOptions& o) {
        o.learning.lr_schedule = ScheduleKind::linear, o.learning.after = {{100, Unit::updates}};
      },
      "lr_decay_updates");
  says([](TrainOptions& o) { o.learning.r_drop = 5, o.model.dropout = 0; }, "r_drop");
  says([](TrainOptions& o) { o.model.dropout_warmup = 5, o.model.dropout = 0; }, "dropout_warmup");
  says([](TrainOptions& o) { o.run.deterministic = true, o.run.threads = 9; }, "threads");
}

TEST(TrainOptions, ATeacherBringsItsVocabulary) {
  TrainOptions o = valid(), other = valid();
  o.learning.teacher = other.learning.teacher = {"big", "bigger"};
  other.data.vocab = "mine";
  settle(o), settle(other);
  EXPECT_EQ(o.data.vocab, "big");
  EXPECT_EQ(other.data.vocab, "mine");
}

TEST(TrainOptions, CosineTakesItsEndFromAfter) {
  TrainOptions o = valid();
  o.learning.lr_schedule = ScheduleKind::cosine;
  o.learning.after = {{30, Unit::epochs}, {8000, Unit::updates}};
  settle(o);
  EXPECT_EQ(o.learning.lr_decay_updates, 8000);
}

TEST(TrainOptions, JsonBringsEveryValueBack) {
  TrainOptions o = valid();
  o.run.seed = 0xfffffffffffffff0ull;
  o.learning.learn_rate = 0.1 + 0.2;
  o.learning.lr_schedule = ScheduleKind::linear;
  o.model.embedding_dropout = 0.25;
  o.validation.valid_metrics = {Metric::bleu, Metric::loss};
  o.data.tsv = true;
  TrainOptions back;
  Fields fields = fields_of(back);
  fields_from_json(fields, to_json(fields_of(o)), "state.json");
  EXPECT_EQ(to_json(fields_of(back)), to_json(fields_of(o)));
  EXPECT_EQ(back.run.seed, o.run.seed);
  EXPECT_EQ(back.validation.valid_metrics, (std::vector{Metric::bleu, Metric::loss}));
}

TEST(TrainOptions, OnlyWhatDecidesWeightsIsForbiddenToChange) {
  TrainOptions was = valid(), now = valid();
  now.run.disp_freq = {{1, Unit::updates}}, now.run.threads = 7, now.learning.after = {{99, Unit::epochs}},
  now.run.model = "elsewhere";
  EXPECT_EQ(forbidden_changes(fields_of(was), fields_of(now)), "");
  now.run.seed = 2;
  now.data.max_tokens = 8192;
  const std::string changes = forbidden_changes(fields_of(was), fields_of(now));
  EXPECT_TRUE(contains(changes, "seed was 1, now 2")) << changes;
  EXPECT_TRUE(contains(changes, "max-tokens was 4096, now 8192")) << changes;
}

TEST(TrainOptions, UnknownMetricAndUnitAreErrors) {
  TrainOptions o = valid();
  Fields f = fields_of(o);
  EXPECT_THROW(f.set_from_text("valid-metrics", "blue", ""), Error);
  EXPECT_NO_THROW(f.set_from_text("valid-metrics", "bleu,chrf", ""));
  EXPECT_THROW(f.set_from_text("after", "30x", ""), Error);
  for (const char* share : {"0", "-1", "inf", "x", "1e999"})
    EXPECT_THROW(f.set_from_text("corpus-weights", share, ""), Error) << share;
  for (const char* share : {"0.5", "1e-320"}) {  // the second is below all normal doubles
    EXPECT_NO_THROW(f.set_from_text("corpus-weights", share, "")) << share;
    EXPECT_EQ(o.data.corpus_weights, std::vector<double>{std::strtod(share, nullptr)});
  }
  EXPECT_TRUE(contains(error_of([&] { f.set_from_text("max-tokns", "4", "run.yml: line 2"); }), "max-tokens"));
}

}  // namespace
}  // namespace tril::train
