// A traced pass: its values, and that watching changes nothing.
#include <gtest/gtest.h>

#include "support/contains.h"
#include "support/error_of.h"
#include "trace/pattern.h"
#include "trace/traced.h"

namespace tril::trace {
namespace {

std::vector<std::string> all_models() {
  std::vector<std::string> names;
  for (const char* kind : {"encoder-decoder", "decoder-only"})
    for (const auto& dir : test::golden_model_directories(kind)) names.push_back(dir.string());
  return names;
}

std::vector<float> sum(std::vector<float> a, const std::vector<float>& b) {
  EXPECT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) a[i] += b[i];
  return a;
}

TEST(Pattern, StandsForNamesAndParts) {
  EXPECT_TRUE(is_pattern_of("decoder.*.self.q", "decoder.13.self.q"));
  EXPECT_TRUE(is_pattern_of("*", "logits"));
  EXPECT_TRUE(is_pattern_of("*q*", "decoder.1.self.q"));
  EXPECT_FALSE(is_pattern_of("decoder.1", "decoder.11"));
  EXPECT_FALSE(is_pattern_of("decoder.*.q", "decoder.1.self.k"));
  EXPECT_TRUE(covers("decoder.1", "decoder.1.self.q"));
  EXPECT_FALSE(covers("decoder.1", "decoder.11.self.q"));
  EXPECT_FALSE(covers("", "logits"));
}

// Of every family: a pass that keeps everything gives the logits of one that keeps nothing, to the bit.
TEST(Trace, OfEveryFamilyChangesNothing) {
  const std::vector<std::string> models = all_models();
  ASSERT_GT(models.size(), 50u);
  for (const std::string& dir : models) {
    SCOPED_TRACE(dir);
    const auto m = model::load(model::ModelSource::open(dir));
    const Input input = input_of(*m);
    const Outcome plain = run_pass(*m, input);
    const Traced t = traced(*m, input, {"*"});
    EXPECT_EQ(plain.logits, t.outcome.logits);
    EXPECT_EQ(t.trace.at("logits").floats(), plain.logits);
    EXPECT_EQ(t.trace.at("decoder.tokens").ints(), input.tokens);
    for (const char* name :
         {"decoder.embeddings", "decoder.stream", "decoder.0.input", "decoder.0.output", "decoder.final"})
      EXPECT_TRUE(t.trace.find(name)) << name;
    // A layer may be one sublayer (mamba2, nemotron_h); its result is not the layer's own point.
    EXPECT_TRUE(t.trace.find("decoder.0.self.out") || t.trace.find("decoder.0.feed_forward.out"));
    EXPECT_EQ(t.trace.find("decoder.0.out"), nullptr);
    if (!m->has_encoder()) continue;
    for (const char* name :
         {"encoder.tokens", "encoder.0.self.weights", "decoder.0.cross.weights", "decoder.0.cross.out"})
      EXPECT_TRUE(t.trace.find(name)) << name;
  }
}

// Of every family: the weights are a distribution over the keys that the mask allows, and what sublayers add is what the
// stream gains, unless a norm or a factor follows.
TEST(Trace, OfEveryFamilyAddsUp) {
  std::size_t attentions = 0, pre_norm = 0;
  for (const std::string& dir : all_models()) {
    SCOPED_TRACE(dir);
    const auto m = model::load(model::ModelSource::open(dir));
    const Trace trace = traced(*m, input_of(*m), {"*"}).trace;
    for (const Value& v : trace.values()) {
      EXPECT_TRUE(v.source.starts_with("src/") && v.source.rfind(':') != v.source.npos) << v.name << " " << v.source;
      if (!v.name.ends_with(".weights")) continue;
      SCOPED_TRACE(v.name);
      ++attentions;
      const std::string part = v.name.substr(0, v.name.size() - 7);
      const std::vector<float> weights = v.floats();
      const std::vector<std::int32_t> mask = trace.at(part + "mask").ints();
      const auto keys = static_cast<std::size_t>(v.shape[2]);
      for (std::size_t i = 0; i < weights.size(); ++i)
        if (mask[i % mask.size()] == 0) {
          ASSERT_EQ(weights[i], 0.0f) << i;
        }
      for (std::size_t r = 0; r < weights.size() / keys; ++r) {
        double total = 0;
        for (std::size_t k = 0; k < keys; ++k) total += static_cast<double>(weights[r * keys + k]);
        ASSERT_LE(total, 1 + 1e-5);  // a sink takes the rest
        ASSERT_GT(total, 0);
      }
    }
    std::vector<float> gained = trace.at("decoder.0.input").floats();
    for (const char* name : {"decoder.0.self.out", "decoder.0.cross.out", "decoder.0.feed_forward.out"})
      if (const Value* const out = trace.find(name)) gained = sum(gained, out->floats());
    // Sums in another order: a few roundings of values below 100.
    if (largest(gained, trace.at("decoder.0.output").floats()) < 1e-4) ++pre_norm;
  }
  EXPECT_GT(attentions, 150u);
  EXPECT_GT(pre_norm, 60u);  // all but post-norm and scaled layers
}

// The trace's own pass of attention agrees with the kernel's.
TEST(Trace, HeadsAreWeightsTimesValues) {
  for (const char* name :
       {"gpt2", "marian", "llama", "gemma2", "t5", "bloom", "gpt_oss", "deepseek_v3", "mistral_swa"}) {
    SCOPED_TRACE(name);
    const auto m = golden(name);
    const Trace trace = traced(*m, input_of(*m), {"*"}).trace;
    for (const char* part : {"decoder.0.self.", "decoder.1.self.", "decoder.0.cross.", "encoder.0.self."}) {
      const Value* const w = trace.find(std::string(part) + "weights");
      if (!w || trace.find(std::string(part) + "latent")) continue;
      const Value &v = trace.at(std::string(part) + "v"), &heads = trace.at(std::string(part) + "heads");
      const auto H = w->shape[0], Tq = w->shape[1], Tk = w->shape[2], G = H / v.shape[1], d = v.shape[2];
      const std::vector<float> weights = w->floats(), values = v.floats(), got = heads.floats();
      for (std::int64_t h = 0; h < H; ++h)
        for (std::int64_t i = 0; i < Tq; ++i)
          for (std::int64_t n = 0; n < d; ++n) {
            double y = 0;
            for (std::int64_t k = 0; k < Tk; ++k)
              y += static_cast<double>(weights[as_size((h * Tq + i) * Tk + k)]) *
                   static_cast<double>(values[as_size((k * v.shape[1] + h / G) * d + n)]);
            ASSERT_NEAR(got[as_size((i * H + h) * d + n)], y, 2e-5 * (1 + std::abs(y)))
                << part << " head " << h << " token " << i;
          }
    }
  }
}

// The scores of T5, of ALiBi and with a soft cap, from what the trace shows beside them.
TEST(Trace, ScoresAreScaledProductsWithCapAndBias) {
  struct Case {
    const char *name, *part;
    double scale;  // of the family: T5 has none, gemma2 that of query_pre_attn_scalar
  };
  const double usual = 1 / std::sqrt(12.0);
  for (const auto& [name, part, scale] : {Case{"t5", "encoder.1.self.", 1},
                                          {"t5", "decoder.0.self.", 1},
                                          {"umt5", "decoder.1.self.", 1},
                                          {"bloom", "decoder.0.self.", usual},
                                          {"mpt", "decoder.1.self.", usual},
                                          {"gemma2", "decoder.0.self.", 1 / std::sqrt(24.0)}}) {
    SCOPED_TRACE(std::string(name) + " " + part);
    const auto m = golden(name);
    const Trace trace = traced(*m, input_of(*m), {"*"}).trace;
    const auto of = [&, part = std::string(part)](const char* last) { return trace.find(part + last); };
    const Value *const bias = of("bias"), *const cap = of("softcap"), &scores = *of("scores"), &q = *of("q"),
                       &k = *of("k");
    ASSERT_NE(bias == nullptr, cap == nullptr);
    if (bias) {
      EXPECT_EQ(bias->shape, scores.shape);
    }
    const auto H = q.shape[1], d = q.shape[2], G = H / k.shape[1], Tq = scores.shape[1], Tk = scores.shape[2];
    const std::vector<float> x = q.floats(), y = k.floats(), s = scores.floats();
    const std::vector<float> b = bias ? bias->floats() : std::vector<float>(s.size());
    double most = 0;
    for (std::int64_t h = 0; h < H; ++h)
      for (std::int64_t i = 0; i < Tq; ++i)
        for (std::int64_t j = 0; j < Tk; ++j) {
          double product = 0;
          for (std::int64_t n = 0; n < d; ++n)
            product += static_cast<double>(x[as_size((i * H + h) * d + n)]) *
                       static_cast<double>(y[as_size((j * k.shape[1] + h / G) * d + n)]);
          const double c = cap ? static_cast<double>(cap->floats()[0]) : 0;
          const auto at = as_size((h * Tq + i) * Tk + j);
          const double wanted =
              (cap ? c * std::tanh(scale * product / c) : scale * product) + static_cast<double>(b[at]);
          ASSERT_NEAR(s[at], wanted, 1e-5 * (1 + std::abs(wanted)));
          most = std::max(most, std::abs(static_cast<double>(b[at])));
        }
    if (bias) {
      EXPECT_GT(most, 0.1) << "a bias of zeros shows nothing";
    }
  }
  const auto m = golden("gpt2");
  const Trace trace = traced(*m, input_of(*m), {"*"}).trace;
  for (const char* none : {"decoder.0.self.bias", "decoder.0.self.softcap"}) EXPECT_EQ(trace.find(none), nullptr);
}

// The bias alone can be kept, and changed: without it, ALiBi has no positions.
TEST(Trace, BiasCanBeChanged) {
  const auto m = golden("bloom");
  const Input input = input_of(*m);
  const Traced alone = traced(*m, input, {"*.bias"});
  EXPECT_EQ(alone.trace.values().size(), 2u);
  EXPECT_EQ(alone.outcome.logits, run_pass(*m, input).logits);
  const std::vector<float> without = traced(*m, input, {}, {"*.bias=zero"}).outcome.logits;
  EXPECT_LT(largest(without, traced(*m, input, {}, {"*positions=skip"}).outcome.logits), 1e-4);  // rounding of float32
  EXPECT_GT(largest(without, alone.outcome.logits), 1e-2);
  EXPECT_TRUE(contains(
      error_of([&] { traced(*golden("gemma2"), input_of(*golden("gemma2")), {}, {"*.softcap=zero"}); }), "softcap"));
}

// The hooks of `transformers` see the same values (make_gpt2_hooks.py).
TEST(Trace, EqualsTheHooksOfTransformers) {
  const auto m = golden("gpt2");
  const Trace trace = traced(*m, input_of(*m), {"*"}).trace;
  const SafetensorsFile hooks = SafetensorsFile::open(std::string(test::test_dir()) + "/trace/gpt2_hooks.safetensors");
  ASSERT_GT(hooks.tensors().size(), 20u);
  for (const WeightView& wanted : hooks.tensors()) {
    SCOPED_TRACE(wanted.name);
    const Value& got = trace.at(wanted.name);
    EXPECT_EQ(got.shape, wanted.shape);
    EXPECT_LT(largest(got.floats(), to_f32(wanted)), 1e-4);  // sums in another order
  }
}

TEST(Trace, KeepsOnlyWhatIsNamed) {
  const auto m = golden("gpt2");
  const Trace trace = traced(*m, input_of(*m), {"decoder.1.self.weights", "logits"}).trace;
  ASSERT_EQ(trace.values().size(), 2u);
  EXPECT_EQ(trace.values()[0].name, "decoder.1.self.weights");
  EXPECT_EQ(trace.values()[0].shape.size(), 3u);
  EXPECT_EQ(trace.bytes(), 4 * (trace.values()[0].count() + trace.values()[1].count()));
}

TEST(Trace, RefusesWhatDoesNotFit) {
  const auto m = golden("gpt2");
  const Input input = input_of(*m);
  const auto refused = [&](std::vector<std::string> only, const std::vector<std::string>& edits = {}) {
    return error_of([&] { traced(*m, input, std::move(only), edits); });
  };
  EXPECT_TRUE(contains(refused({"decoder.1.self.wieghts"}), "matches no point", "did you mean", "weights"));
  EXPECT_TRUE(contains(refused({}, {"decoder.9=skip"}), "decoder.9", "changes nothing"));
  EXPECT_TRUE(contains(refused({}, {"decoder.0.self.heads[99]=zero"}), "no head 99"));
  EXPECT_TRUE(contains(refused({}, {"decoder.0.output@99=zero"}), "no token 99"));
  EXPECT_TRUE(contains(refused({}, {"decoder.0.output[0]=zero"}), "no heads"));
  EXPECT_TRUE(contains(refused({}, {"decoder.0.self.mask=zero"}), "a mask is changed by"));
  EXPECT_TRUE(contains(refused({}, {"decoder.0.output=all"}), "only a mask"));
  EXPECT_TRUE(contains(refused({}, {"logits=zero"}), "cannot be changed"));
  EXPECT_TRUE(contains(refused({}, {"decoder.0.output=uniform"}), "no scores"));
  Trace small(100);
  Recorder recorder(small, {.only = {"*"}, .edits = {}});
  EXPECT_TRUE(contains(error_of([&] { run_pass(*m, input, &recorder); }), "more than 100 bytes", "fewer points"));
  Input outside = input;
  outside.tokens[0] = 100'000;
  EXPECT_TRUE(contains(error_of([&] { run_pass(*m, outside); }), "not in a vocabulary"));
}

// d loss / d embedding by the recorder against finite differences of the loss: a bias added to one value of a sublayer.
TEST(Trace, GradientsAreThoseOfTheLoss) {
  const auto m = golden("gpt2");
  const Input input = input_of(*m);
  const Traced t = traced(*m, input, {"decoder.1.input", "decoder.0.self.q"}, {}, true);
  EXPECT_NEAR(t.outcome.loss(), run_pass(*m, input).loss(), 1e-6);
  const std::vector<float> x = t.trace.at("decoder.1.input").floats(),
                           gradient = t.trace.at("decoder.1.input.gradient").floats();
  EXPECT_EQ(t.trace.at("decoder.0.self.q.gradient").shape, t.trace.at("decoder.0.self.q").shape);
  // Scaling token 4 of the stream by 1 +- e changes the loss by 2 e (x . gradient): e is small, but the loss is of doubles.
  const double e = 1e-2;
  const auto loss = [&](double factor) {
    return traced(*m, input, {}, {fmt::format("decoder.1.input@4=scale {}", factor)}).outcome.loss();
  };
  const auto d = x.size() / input.tokens.size();
  double slope = 0;
  for (std::size_t i = 4 * d; i < 5 * d; ++i) slope += static_cast<double>(x[i]) * static_cast<double>(gradient[i]);
  ASSERT_GT(std::abs(slope), 1e-3);
  EXPECT_NEAR((loss(1 + e) - loss(1 - e)) / (2 * e), slope, 2e-2 * std::abs(slope) + 1e-4);
}

}  // namespace
}  // namespace tril::trace
