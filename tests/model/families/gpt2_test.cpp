// GPT-2: logits equal to `transformers`, the spellings of its files, its initialisation, and what it
// refuses.
#include "model/families/gpt2.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "format/safetensors_write.h"
#include "model_io/source/model_source.h"
#include "model_io/source/registry.h"
#include "support/golden.h"
#include "support/temporary.h"

namespace tril::model::gpt2_test {
namespace {

using Ids = std::vector<std::int32_t>;

// Logits [N, V] of whole rows, each from position 0.
std::vector<float> logits_of(Context& c, const Model& m, const std::vector<Ids>& rows) {
  Ids ids, lengths;
  for (const Ids& row : rows) {
    ids.insert(ids.end(), row.begin(), row.end());
    lengths.push_back(static_cast<std::int32_t>(row.size()));
  }
  return host_copy<float>(logits(c, m, m.decode(c, {.ids = ids, .rows = Rows::of_lengths(lengths)})));
}

// The rows of `prefix`input_ids without padding, and the logits of their tokens.
struct Case {
  Case(const SafetensorsFile& file, const std::string& prefix) {
    const Ids ids = to_i32(file.at(prefix + "input_ids")), mask = to_i32(file.at(prefix + "attention_mask"));
    const std::vector<float> all = to_f32(file.at(prefix + "logits"));
    const auto B = static_cast<std::size_t>(file.at(prefix + "input_ids").shape[0]), T = ids.size() / B,
               V = all.size() / ids.size();
    for (std::size_t b = 0; b < B; ++b) {
      rows.emplace_back();
      for (std::size_t t = b * T; t < (b + 1) * T; ++t) {
        if (!mask[t]) continue;
        rows.back().push_back(ids[t]);
        expected.insert(expected.end(), all.begin() + static_cast<std::ptrdiff_t>(t * V),
                        all.begin() + static_cast<std::ptrdiff_t>((t + 1) * V));
      }
    }
  }
  std::vector<Ids> rows;
  std::vector<float> expected;
};

// A loop instead of test parameters: the cases of another directory are not known when tests are listed.
TEST(GoldenDecoderOnly, Logits) {
  const auto directories = test::golden_model_directories("decoder-only");
  if (directories.empty() && test::other_golden_directory()) GTEST_SKIP() << "no model in " << test::golden_directory();
  ASSERT_FALSE(directories.empty()) << "no model in " << test::golden_directory();
  for (const auto& dir : directories) {
    SCOPED_TRACE(dir.string());
    const auto m = load(ModelSource::open(dir));
    EXPECT_FALSE(m->has_encoder());
    const SafetensorsFile file = SafetensorsFile::open((dir / "expected.safetensors").string());
    for (const kern::Kernels* kernels : kern::tables()) {
      SCOPED_TRACE(kernels->name);
      Arena arena;
      Context c(arena, *kernels);
      for (const char* prefix : {"", "batch_"}) {
        const Case k(file, prefix);
        test::expect_close("logits", logits_of(c, *m, k.rows), k.expected, 1e-4, 1e-4);
      }
    }
  }
}

Gpt2Config small(std::int64_t layers = 2) {
  Gpt2Config k;
  k.vocab_size = 11, k.n_positions = 8, k.n_embd = 32, k.n_layer = layers, k.n_head = 2;
  return k;
}

std::unique_ptr<Gpt2> initialised(const Gpt2Config& k) {
  auto m = std::make_unique<Gpt2>(k);
  m->parameters().allocate();
  m->parameters().initialise(3);
  m->parameters().refresh(kern::best());
  return m;
}

// Matrices are [in, out] in files, and a saved directory gives the same model.
TEST(Gpt2, MatricesAreStoredAsConv1D) {
  const TemporaryDirectory dir;
  const auto m = initialised(small());
  save(*m, dir.path());
  const auto file = SafetensorsFile::open(dir.path("model.safetensors"));
  const WeightView& stored = file.at("transformer.h.0.attn.c_attn.weight");
  EXPECT_EQ(stored.shape, (std::vector<std::int64_t>{32, 96}));
  const std::vector<float> values = to_f32(stored),
                           own = host_copy<float>(m->parameters().find("transformer.h.0.attn.c_attn.weight")->value);
  for (std::size_t out = 0; out < 96; ++out)
    for (std::size_t in = 0; in < 32; ++in) ASSERT_EQ(values[in * 96 + out], own[out * 32 + in]);
  EXPECT_EQ(host_copy<float>(load(ModelSource::open(dir.path()))->parameters().flat()),
            host_copy<float>(m->parameters().flat()));
}

// The authors' files: no prefix, and the masks among the weights. Some others repeat the tied output.
TEST(Gpt2, OlderSpellingsAreRead) {
  const TemporaryDirectory dir;
  const auto m = initialised(small());
  save(*m, dir.path());
  {
    const auto file = SafetensorsFile::open(dir.path("model.safetensors"));
    std::vector<WeightView> weights = file.tensors();
    for (WeightView& w : weights) w.name = w.name.substr(std::string("transformer.").size());
    const std::vector<float> mask(64, 1.0f), table = host_copy<float>(m->parameters().all().front().value);
    weights.push_back({"h.0.attn.bias", StoredType::f32, {1, 1, 8, 8}, std::as_bytes(std::span(mask))});
    weights.push_back({"h.1.attn.masked_bias", StoredType::f32, {64}, std::as_bytes(std::span(mask))});
    weights.push_back({"lm_head.weight", StoredType::f32, {11, 32}, std::as_bytes(std::span(table))});
    std::filesystem::create_directory(dir.path("old"));
    write_safetensors(dir.path("old/model.safetensors"), weights, {});
    std::filesystem::copy(dir.path("config.json"), dir.path("old/config.json"));
  }
  EXPECT_EQ(host_copy<float>(load(ModelSource::open(dir.path("old")))->parameters().flat()),
            host_copy<float>(m->parameters().flat()));
}

// An untied model's file with a configuration that ties it would silently be another model.
TEST(Gpt2, AnOutputThatDiffersFromTheEmbeddingIsNotPassedOver) {
  const TemporaryDirectory dir;
  Gpt2Config k = small();
  k.tie_word_embeddings = false;
  save(*initialised(k), dir.path());
  nlohmann::json config = nlohmann::json::parse(read_text(dir.path("config.json"), 1 << 20));
  config["tie_word_embeddings"] = true;
  std::ofstream(dir.path("config.json")) << config.dump();
  const std::string said = error_of([&] { load(ModelSource::open(dir.path())); });
  EXPECT_TRUE(contains(said, "lm_head.weight")) << said;
  EXPECT_TRUE(contains(said, "differs from transformer.wte.weight")) << said;
}

TEST(Gpt2, SizesHaveTwoNames) {
  const auto config_with = [](const nlohmann::json& sizes) {
    nlohmann::json json{{"model_type", "gpt2"}, {"vocab_size", 11}};
    json.update(sizes);
    return json;
  };
  const nlohmann::json other = config_with(
      {{"max_position_embeddings", 8}, {"hidden_size", 32}, {"num_hidden_layers", 2}, {"num_attention_heads", 4}});
  const Gpt2Config k = gpt2_config(JsonObject(other, "config.json"));
  EXPECT_EQ(k.n_positions, 8);
  EXPECT_EQ(k.n_embd, 32);
  EXPECT_EQ(k.n_layer, 2);
  EXPECT_EQ(k.n_head, 4);
  const nlohmann::json both = config_with({{"n_embd", 32}, {"n_head", 4}, {"num_attention_heads", 2}});
  EXPECT_TRUE(contains(error_of([&] { gpt2_config(JsonObject(both, "config.json")); }), "contradicts n_head 4"));
}

TEST(Gpt2, AnUntiedOutputHasAMatrixOfItsOwn) {
  const TemporaryDirectory dir;
  Gpt2Config k = small();
  k.tie_word_embeddings = false;
  const auto m = initialised(k);
  save(*m, dir.path());
  const auto again = load(ModelSource::open(dir.path()));
  EXPECT_EQ(host_copy<float>(again->output().weight.value), host_copy<float>(m->output().weight.value));
  EXPECT_NE(host_copy<float>(again->output().weight.value),
            host_copy<float>(again->parameters().find("transformer.wte.weight")->value));
}

// [Radford et al. 2019]: normal with 0.02, output projections of sublayers divided by sqrt(2 * layers), norms 1, biases 0.
TEST(Gpt2, BeginsAsTheAuthorsDid) {
  const auto m = initialised(small(8));
  for (const nn::Parameter& p : m->parameters().all()) {
    const std::vector<float> values = host_copy<float>(p.value);
    double squares = 0;
    for (float v : values) squares += double(v) * double(v);
    const double rms = std::sqrt(squares / static_cast<double>(values.size()));
    const double expected = p.name.ends_with("bias")            ? 0
                            : p.name.find("ln_") != p.name.npos ? 1
                            : p.name.ends_with("c_proj.weight") ? 0.02 / 4
                                                                : 0.02;
    EXPECT_NEAR(rms, expected, 0.12 * expected) << p.name;
  }
}

TEST(Gpt2, PositionsBeyondTheTableAreAnError) {
  const auto m = initialised(small());
  Arena arena;
  Context c(arena);
  EXPECT_NO_THROW(logits_of(c, *m, {Ids(8, 1)}));
  EXPECT_THROW(logits_of(c, *m, {Ids(9, 1)}), Error);
}

TEST(Gpt2, WhatItsConfigurationCannotSay) {
  const auto says = [](const nlohmann::json& change, const std::string& part) {
    nlohmann::json j = nlohmann::json::parse(Gpt2(small()).config_json());
    j.update(change);
    const std::string text = error_of([&] { gpt2_config(JsonObject(j, "config.json")); });
    EXPECT_TRUE(contains(text, part)) << text;
    for (const auto& [key, value] : change.items()) EXPECT_TRUE(contains(text, key)) << text;
  };
  says({{"scale_attn_weights", false}}, "only true is");
  says({{"scale_attn_by_inverse_layer_idx", true}}, "not supported for gpt2");
  says({{"add_cross_attention", true}}, "not supported for gpt2");
  says({{"n_head", 5}}, "is not divisible by 5 heads");
  says({{"n_layer", 100000}}, "1000");
  says({{"eos_token_id", 11}}, "not a valid id: the vocabulary has 11 tokens");
  says({{"resid_pdrop", 1.0}}, "not in [0, 1)");
  says({{"activation_function", "tanhh"}}, "'tanhh' is not supported");
  says({{"layer_norm_epsilon", 0.0}}, "not a positive number");
}

}  // namespace
}  // namespace tril::model::gpt2_test
