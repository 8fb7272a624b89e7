// Small random models of all families through a GGUF file and back: the same logits, or a refusal that names a key. What a
// family's file has beyond the tensors of tests/golden/hf is here too.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>

#include "base/element.h"
#include "format/gguf.h"
#include "format/gguf_write.h"
#include "model_io/exports/gguf_export.h"
#include "model_io/gguf/gguf_config.h"
#include "model_io/gguf/gguf_keys.h"
#include "model_io/source/model_source.h"
#include "model_io/source/registry.h"
#include "support/error_of.h"
#include "support/random_model.h"
#include "support/small_decoders.h"
#include "support/temporary.h"

namespace tril::model::gguf_round_trip_test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::llama_variant;

std::vector<float> logits_of(const Model& m) {
  const std::vector<std::int32_t> ids{1, 5, 9, 9, 3, 12, 7};
  Arena arena;
  Context c(arena, kern::best());
  const Rows rows = Rows::of_lengths(std::vector<std::int32_t>{static_cast<std::int32_t>(ids.size())});
  return host_copy<float>(logits(c, m, m.decode(c, {.ids = ids, .rows = rows})));
}

// A random model as a GGUF file.
class Exported {
 public:
  explicit Exported(const json& config) : model_(testing::random_model(config)) {
    const fs::path directory = fs::path(files_.path("model"));
    save(*model_, directory);
    const ModelSource source = ModelSource::open(directory.string());
    export_gguf(*make(source), source.weights(),
                {.path = path(), .type = GgufType::f32, .name = "test", .tokenizer = {}});
  }
  std::string path() const { return files_.path("m.gguf"); }
  const Model& model() const { return *model_; }
  json config() const { return config_of_gguf(GgufFile::open(path())); }
  void expect_equal() const {
    const std::vector<float> expected = logits_of(*model_), got = logits_of(*load(ModelSource::open(path())));
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], expected[i], 2e-5) << i;
  }

 private:
  TemporaryDirectory files_;
  std::unique_ptr<Model> model_;
};

// Layers with other numbers of heads, rotated parts, and bounds of SwiGLU in some.
json small_step3p5() {
  const json full{{"rope_type", "default"}, {"rope_theta", 1000.0}, {"partial_rotary_factor", 0.5}};
  return llama_variant(
      "step3p5",
      {{"head_dim", 8},
       {"num_hidden_layers", 3},
       {"num_sliding_attention_heads", 2},
       {"layer_types", {"full_attention", "sliding_attention", "sliding_attention"}},
       {"sliding_window", 3},
       {"rope_parameters",
        {{"full_attention", full}, {"sliding_attention", {{"rope_type", "default"}, {"rope_theta", 100.0}}}}},
       {"mlp_layer_types", {"dense", "sparse", "dense"}},
       {"n_routed_experts", 3},
       {"num_experts_per_tok", 2},
       {"moe_intermediate_size", 8},
       {"share_expert_dim", 6},
       {"moe_router_scaling_factor", 1.5},
       {"swiglu_limits", {nullptr, 0.3, nullptr}},
       {"swiglu_limits_shared", {0.25, 0.0, 0.0}}});
}

// Variants without what keeps those of small_decoders() from being written.
std::vector<json> written_variants() {
  const json latent{{"num_key_value_heads", 4},   {"n_routed_experts", 4}, {"num_experts_per_tok", 2},
                    {"moe_intermediate_size", 6}, {"kv_lora_rank", 6},     {"qk_nope_head_dim", 3},
                    {"qk_rope_head_dim", 4},      {"v_head_dim", 5},       {"first_k_dense_replace", 1}};
  const auto with = [](json config, const json& more) {
    config.update(more);
    return config;
  };
  const json yarn{{"rope_type", "yarn"}, {"rope_theta", 1000.0},
                  {"factor", 4.0},       {"original_max_position_embeddings", 4},
                  {"mscale", 0.707},     {"mscale_all_dim", 0.707}};
  const json sharp_yarn{{"rope_type", "yarn"},
                        {"rope_theta", 1000.0},
                        {"factor", 4.0},
                        {"original_max_position_embeddings", 4},
                        {"truncate", false}};
  const json cohere{{"tie_word_embeddings", true}};
  const json llama3{{"rope_type", "llama3"},  {"rope_theta", 1000.0},     {"factor", 2.0},
                    {"low_freq_factor", 1.0}, {"high_freq_factor", 32.0}, {"original_max_position_embeddings", 8}};
  const json half_llama3 = with(llama3, {{"partial_rotary_factor", 0.5}});
  const json step = small_step3p5(), sliding{{"rope_type", "default"}, {"rope_theta", 100.0}};
  const json two_experts{{"num_local_experts", 3}, {"num_experts_per_tok", 2}};
  const json dots{{"num_key_value_heads", 4}, {"n_routed_experts", 4},      {"num_experts_per_tok", 2},
                  {"n_shared_experts", 2},    {"moe_intermediate_size", 6}, {"sliding_window", nullptr}};
  return {
      llama_variant("olmoe", {{"num_key_value_heads", 4}, {"num_experts", 3}, {"num_experts_per_tok", 2}}),
      llama_variant("dots1", dots),
      llama_variant("afmoe", {{"head_dim", 6},
                              {"num_experts", 4},
                              {"num_experts_per_tok", 2},
                              {"moe_intermediate_size", 6},
                              {"mup_enabled", true},
                              {"num_hidden_layers", 4}}),
      testing::delta_variant("qwen3_next", {{"linear_value_head_dim", 3},
                                            {"num_experts", 3},
                                            {"num_experts_per_tok", 2},
                                            {"moe_intermediate_size", 8},
                                            {"shared_expert_intermediate_size", 6}}),
      llama_variant("lfm2", {{"layer_types", {"conv", "full_attention"}}, {"block_ffn_dim_multiplier", nullptr}}),
      llama_variant("exaone", {{"head_dim", 6}}), llama_variant("exaone", {{"rope_parameters", llama3}}),
      llama_variant("ministral", {{"sliding_window", nullptr}}), llama_variant("cohere", cohere),
      llama_variant("cohere", with(cohere, {{"use_qk_norm", true}, {"num_hidden_layers", 64}})),
      llama_variant("exaone4", {{"sliding_window", nullptr}}),
      llama_variant("exaone4", {{"sliding_window", 3}, {"num_hidden_layers", 64}}),
      llama_variant("deepseek_v2", with(latent, {{"q_lora_rank", nullptr}, {"num_hidden_layers", 27}})),
      llama_variant("deepseek_v2", with(latent, {{"q_lora_rank", 5}, {"rope_parameters", yarn}})),
      llama_variant("deepseek_v3", with(latent, {{"q_lora_rank", 5},
                                                 {"rope_parameters", yarn},
                                                 {"n_group", 2},
                                                 {"topk_group", 1},
                                                 {"first_k_dense_replace", 0}})),
      llama_variant("glm4_moe", {{"n_routed_experts", 4},
                                 {"num_experts_per_tok", 2},
                                 {"moe_intermediate_size", 6},
                                 {"use_qk_norm", true},
                                 {"attention_bias", true}}),
      // Whole heads are rotated, where the families usually rotate a part.
      llama_variant("glm4_moe", {{"n_routed_experts", 4},
                                 {"num_experts_per_tok", 2},
                                 {"moe_intermediate_size", 6},
                                 {"partial_rotary_factor", 1.0}}),
      llama_variant("stablelm", {{"partial_rotary_factor", 1.0}}),
      llama_variant("glm4", {{"partial_rotary_factor", 1.0}}),
      llama_variant("stablelm", {{"partial_rotary_factor", 0.5},
                                 {"qk_layernorm", true},
                                 {"use_qkv_bias", true},
                                 {"use_parallel_residual", true}}),
      llama_variant("gpt_oss", with(two_experts, {{"head_dim", 4}, {"rope_parameters", {{"rope_type", "default"}}}})),
      llama_variant("gpt_oss", with(two_experts, {{"head_dim", 4}, {"rope_parameters", sharp_yarn}})),
      llama_variant("granitemoe", with(two_experts, {{"logits_scaling", 0.7}})),
      testing::mamba_variant("granitemoehybrid", with(two_experts, {{"layer_types", {"mamba", "attention"}},
                                                                    {"shared_intermediate_size", 8},
                                                                    {"residual_multiplier", 0.5}})),
      testing::mamba_variant("granitemoehybrid", {{"layer_types", {"attention", "mamba"}},
                                                  {"num_local_experts", 0},
                                                  {"num_experts_per_tok", 0},
                                                  {"shared_intermediate_size", 8},
                                                  {"position_embedding_type", "rope"},
                                                  {"tie_word_embeddings", true},
                                                  {"attention_bias", true}}),
      testing::mamba_variant("granitemoehybrid", {{"layer_types", {"attention", "attention"}},
                                                  {"num_local_experts", 0},
                                                  {"num_experts_per_tok", 0},
                                                  {"shared_intermediate_size", 8},
                                                  {"position_embedding_type", "rope"}}),
      testing::mamba_variant("granitemoehybrid", with(two_experts, {{"layer_types", {"attention", "attention"}},
                                                                    {"shared_intermediate_size", 8},
                                                                    {"position_embedding_type", "rope"}})),
      llama_variant("granitemoeshared", with(two_experts, {{"shared_intermediate_size", 6}})),
      testing::mamba_variant("bamba", {{"attn_layer_indices", {1}}, {"attention_bias", true}, {"mlp_bias", true}}),
      testing::mamba_variant("bamba", {{"attn_layer_indices", {0, 1}},
                                       {"rope_parameters", {{"rope_theta", 100.0}, {"partial_rotary_factor", 1.0}}}}),
      step, with(step, {{"rope_parameters", {{"full_attention", half_llama3}, {"sliding_attention", sliding}}}}),
      testing::mamba_variant("falcon_h1", {{"mamba_d_ssm", 20},
                                           {"mamba_rms_norm", true},
                                           {"mamba_norm_before_gate", false},
                                           {"attention_in_multiplier", 0.8},
                                           {"attention_out_multiplier", 1.3},
                                           {"key_multiplier", 0.7},
                                           {"ssm_in_multiplier", 1.2},
                                           {"ssm_out_multiplier", 0.6},
                                           {"ssm_multipliers", {0.9, 0.8, 1.1, 1.2, 0.7}},
                                           {"mlp_multipliers", {0.7, 1.4}},
                                           {"mlp_bias", true},
                                           {"embedding_multiplier", 1.5},
                                           {"lm_head_multiplier", 0.5}}),
      testing::mamba_variant("falcon_h1", {{"mamba_d_ssm", 24}, {"attention_bias", true}}),
      llama_variant("mamba2", {{"num_heads", 4}, {"head_dim", 8}, {"n_groups", 2}, {"state_size", 3}}),
      testing::nemotron_h_variant({{"layers_block_type", {"mamba", "moe", "attention"}},
                                   {"num_hidden_layers", 3},
                                   {"n_routed_experts", 4},
                                   {"n_group", 2},
                                   {"topk_group", 1},
                                   {"num_experts_per_tok", 2}}),
      testing::nemotron_h_variant(
          {{"layers_block_type", {"mlp", "attention", "mamba"}}, {"num_hidden_layers", 3}, {"mlp_bias", true}})};
}

TEST(GgufRoundTrip, ASmallModelOfEveryFamilyComesBackOrIsRefused) {
  std::vector<json> every = testing::small_decoders();
  for (const json& j : written_variants()) every.push_back(j);
  std::set<std::string> written;
  for (const json& j : every) {
    const std::string family = j.at("model_type");
    if (gguf_architecture(family).empty()) continue;
    SCOPED_TRACE(j.dump());
    try {
      const Exported file(j);
      file.expect_equal();
      written.insert(family);
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::usage) << e.what();
      EXPECT_TRUE(contains(e.what(), "llama.cpp")) << e.what();
    }
  }
  EXPECT_GE(written.size(), 33u) << "of " << gguf_families().size() << " families";
}

TEST(GgufRoundTrip, OfEachVariantThatLlamaCppComputes) {
  for (const json& j : written_variants()) {
    SCOPED_TRACE(j.dump());
    EXPECT_NO_THROW(Exported(j).expect_equal());
  }
}

// What llama.cpp has in its code for the families with Mamba-2, and a granitemoehybrid of attention alone.
TEST(GgufRoundTrip, WhatLlamaCppDoesNotComputeOfMamba2IsRefused) {
  const json granite = testing::mamba_variant("granitemoehybrid", {{"layer_types", {"mamba", "attention"}},
                                                                   {"num_local_experts", 0},
                                                                   {"num_experts_per_tok", 0},
                                                                   {"shared_intermediate_size", 8}});
  const json falcon = testing::mamba_variant("falcon_h1", {{"mamba_d_ssm", 20}, {"mamba_norm_before_gate", false}});
  const json attention{{"layer_types", {"attention", "attention"}}};
  const json nemotron = testing::nemotron_h_variant({{"num_hidden_layers", 2}});
  for (const auto& [config, change] : {std::pair{granite, json{{"mamba_expand", 3}, {"mamba_n_heads", 6}}},
                                       {granite, json{{"mamba_conv_bias", false}}},
                                       {granite, json{{"mamba_proj_bias", true}}},
                                       {granite, attention},
                                       {falcon, json{{"mamba_norm_before_gate", true}, {"mamba_rms_norm", true}}},
                                       {falcon, json{{"lm_head_multiplier", 0.5}, {"tie_word_embeddings", true}}},
                                       {nemotron, json{{"layers_block_type", {"mlp", "moe"}}}}}) {
    SCOPED_TRACE(change.dump());
    json whole = config;
    whole.update(change);
    const std::string error = error_of([&] { const Exported file(whole); });
    EXPECT_TRUE(contains(error, change == attention ? "position_embedding_type" : change.begin().key(), "llama.cpp"))
        << error;
  }
}

TEST(GgufRoundTrip, WhatLlamaCppDoesNotComputeOfStep35IsRefused) {
  const auto rope = [](double full, double sliding) {
    return json{
        {"rope_parameters",
         {{"full_attention", {{"rope_type", "default"}, {"rope_theta", 100.0}, {"partial_rotary_factor", full}}},
          {"sliding_attention",
           {{"rope_type", "default"}, {"rope_theta", 100.0}, {"partial_rotary_factor", sliding}}}}}};
  };
  for (const json& change : {json{{"query_pre_attn_scalar", 20}}, rope(1.0, 1.0), rope(0.5, 0.5),
                             json{{"swiglu_limits", {nullptr, 1e-7, nullptr}}}, json{{"tie_word_embeddings", true}}}) {
    SCOPED_TRACE(change.dump());
    json whole = small_step3p5();
    whole.update(change);
    EXPECT_TRUE(contains(error_of([&] { const Exported file(whole); }), change.begin().key(), "llama.cpp"));
  }
}

TEST(GgufRoundTrip, AlphaBecomesTheRotaryBase) {
  const Exported file(
      llama_variant("hunyuan_v1_dense", {{"rope_scaling", {{"type", "dynamic"}, {"alpha", 8.0}, {"factor", 1.0}}}}));
  const double base = 10000 * std::pow(8.0, 4.0 / 2);  // alpha^(d / (d - 2)) for heads of 4
  EXPECT_NEAR(file.config().at("rope_theta").get<double>(), base, 1e-6 * base);
  EXPECT_FALSE(file.config().contains("rope_scaling"));
}

TEST(GgufRoundTrip, AMistral3WithoutScaledQueriesIsAMistral) {
  const json yarn{{"rope_type", "yarn"},
                  {"rope_theta", 1000.0},
                  {"factor", 4.0},
                  {"original_max_position_embeddings", 4},
                  {"attention_factor", 1.0}};
  const Exported file(llama_variant("ministral3", {{"head_dim", 4}, {"rope_parameters", yarn}}));
  file.expect_equal();
  const json config = file.config();
  EXPECT_EQ(config.at("model_type"), "mistral");
  EXPECT_TRUE(config.at("sliding_window").is_null());
  EXPECT_EQ(config.at("rope_scaling").at("attention_factor"), 1.0);
}

// The metadata of a file, without lists and some keys.
GgufMetadata copy_of(const GgufFile& file, const std::function<bool(std::string_view)>& is_without) {
  GgufMetadata metadata;
  for (const GgufEntry& e : file.metadata()) {
    if (e.is_array || is_without(e.key)) continue;
    switch (e.kind) {
      case GgufKind::u32:
        metadata.add(e.key, static_cast<std::uint32_t>(file.at<std::int64_t>(e.key)));
        break;
      case GgufKind::f32:
        metadata.add(e.key, static_cast<float>(file.at<double>(e.key)));
        break;
      case GgufKind::boolean:
        metadata.add(e.key, file.at<bool>(e.key));
        break;
      default:
        metadata.add(e.key, file.at<std::string_view>(e.key));
    }
  }
  return metadata;
}

// The file again with more metadata and more tensors.
std::string extended(const std::string& path, const TemporaryDirectory& to, const GgufMetadata& more,
                     const std::vector<std::string>& tensors, const std::string& without = "") {
  const GgufFile file = GgufFile::open(path);
  std::vector<GgufTensorHeader> headers;
  for (const GgufTensor& t : file.tensors()) headers.push_back({t.name, t.type, t.shape});
  for (const std::string& name : tensors) headers.push_back({name, GgufType::f32, {4}});
  GgufMetadata metadata = copy_of(file, [&](std::string_view key) { return key == without; });
  metadata.append(more);
  const std::string path_of_all = to.path("extended.gguf");
  GgufWriter writer(path_of_all, headers, metadata);
  for (const GgufTensor& t : file.tensors()) writer.write(t.name, t.bytes);
  const std::vector<float> zeros(4);
  for (const std::string& name : tensors) writer.write(name, std::as_bytes(std::span(zeros)));
  writer.commit();
  return path_of_all;
}

// llama.cpp's converter divides its fused matrix, and llama.cpp computes the same as for llama.
TEST(GgufRoundTrip, AnInternLm2IsReadAsALlama) {
  const Exported exported(llama_variant("llama"));
  const GgufFile file = GgufFile::open(exported.path());
  const std::string_view llama = "llama.";
  GgufMetadata metadata;
  metadata.add("general.architecture", "internlm2");
  for (const GgufEntry& e : file.metadata()) {
    if (!e.key.starts_with(llama)) continue;
    const std::string key = "internlm2." + std::string(e.key.substr(llama.size()));
    if (e.kind == GgufKind::f32)
      metadata.add(key, static_cast<float>(file.at<double>(e.key)));
    else
      metadata.add(key, static_cast<std::uint32_t>(file.at<std::int64_t>(e.key)));
  }
  std::vector<GgufTensorHeader> headers;
  for (const GgufTensor& t : file.tensors()) headers.push_back({t.name, t.type, t.shape});
  const TemporaryDirectory to;
  GgufWriter writer(to.path("m.gguf"), headers, metadata);
  for (const GgufTensor& t : file.tensors()) writer.write(t.name, t.bytes);
  writer.commit();
  const auto m = load(ModelSource::open(to.path("m.gguf")));
  EXPECT_EQ(m->family(), "llama");
  EXPECT_EQ(logits_of(*m), logits_of(*load(ModelSource::open(exported.path()))));
}

const json kGlm4Moe =
    llama_variant("glm4_moe", {{"n_routed_experts", 4}, {"num_experts_per_tok", 2}, {"moe_intermediate_size", 6}});

TEST(GgufRoundTrip, LayersThatPredictFurtherTokensAreLeftOut) {
  const Exported file(kGlm4Moe);
  const TemporaryDirectory to;
  const std::string block_count = "glm4moe.block_count";
  GgufMetadata more;
  more.add(block_count, std::uint32_t{3});
  more.add("glm4moe.nextn_predict_layers", std::uint32_t{1});
  const TemporaryDirectory first;
  const std::string without = extended(file.path(), first, {}, {}, "glm4moe.nextn_predict_layers");
  const std::string path = extended(without, to, more, {"blk.2.nextn.eh_proj.weight"}, block_count);
  EXPECT_EQ(config_of_gguf(GgufFile::open(path)).at("num_hidden_layers"), 2);
  EXPECT_EQ(logits_of(*load(ModelSource::open(path))), logits_of(*load(ModelSource::open(file.path()))));
  const std::string other = extended(without, to, more, {"blk.3.nextn.eh_proj.weight"}, block_count);
  EXPECT_TRUE(contains(error_of([&] { load(ModelSource::open(other)); }), "blk.3.nextn.eh_proj.weight"));
}

// chatglm's older files have queries, keys and values in one tensor.
TEST(GgufRoundTrip, FusedQueriesKeysAndValuesAreRead) {
  const Exported exported(llama_variant("glm", {{"head_dim", 4}, {"attention_bias", true}}));
  const GgufFile file = GgufFile::open(exported.path());
  std::map<std::string, std::string> fused;  // the bytes of attn_qkv
  std::vector<GgufTensorHeader> headers;
  for (std::int64_t layer = 0; layer < 2; ++layer)
    for (const char* end : {"weight", "bias"}) {
      const std::string name = fmt::format("blk.{}.attn_qkv.{}", layer, end);
      std::vector<std::int64_t> shape;
      for (const char* part : {"q", "k", "v"}) {
        const GgufTensor& t = file.tensor(fmt::format("blk.{}.attn_{}.{}", layer, part, end));
        const std::int64_t rows = shape.empty() ? 0 : shape[0];
        shape = t.shape, shape[0] += rows;
        fused[name].append(reinterpret_cast<const char*>(t.bytes.data()), t.bytes.size());
      }
      headers.push_back({name, GgufType::f32, shape});
    }
  const auto is_part = [](std::string_view name) {
    return name.find("attn_q.") != name.npos || name.find("attn_k.") != name.npos || name.find("attn_v.") != name.npos;
  };
  for (const GgufTensor& t : file.tensors())
    if (!is_part(t.name)) headers.push_back({t.name, t.type, t.shape});
  const TemporaryDirectory to;
  GgufWriter writer(to.path("m.gguf"), headers, copy_of(file, [](std::string_view) { return false; }));
  for (const GgufTensorHeader& h : headers) {
    if (const auto found = fused.find(h.name); found != fused.end())
      writer.write(h.name, std::as_bytes(std::span(found->second)));
    else
      writer.write(h.name, file.tensor(h.name).bytes);
  }
  writer.commit();
  EXPECT_EQ(logits_of(*load(ModelSource::open(to.path("m.gguf")))),
            logits_of(*load(ModelSource::open(exported.path()))));
}

// deepseek2's older files have kv_b_proj as Hugging Face's, and the sizes of heads alone.
TEST(GgufRoundTrip, AnOlderDeepseekIsRead) {
  const Exported exported(llama_variant("deepseek_v2", {{"num_key_value_heads", 4},
                                                        {"n_routed_experts", 4},
                                                        {"num_experts_per_tok", 2},
                                                        {"moe_intermediate_size", 6},
                                                        {"kv_lora_rank", 6},
                                                        {"q_lora_rank", 5},
                                                        {"qk_nope_head_dim", 3},
                                                        {"qk_rope_head_dim", 4},
                                                        {"v_head_dim", 5}}));
  const GgufFile file = GgufFile::open(exported.path());
  const WeightFiles weights = ModelSource::open(exported.path()).weights();
  GgufMetadata metadata;
  for (const auto& [key, value] : {std::pair{"head_count_kv", 4u}, {"key_length", 7u}, {"value_length", 5u}})
    metadata.add(fmt::format("deepseek2.attention.{}", key), value);
  const auto is_replaced = [](std::string_view name) {
    for (const char* part : {"attn_k_b", "attn_v_b", "head_count_kv", "attention.key_length", "attention.value_length"})
      if (name.find(part) != name.npos) return true;
    return false;
  };
  metadata.append(copy_of(file, is_replaced));
  std::vector<GgufTensorHeader> headers;
  for (std::int64_t layer = 0; layer < 2; ++layer)
    headers.push_back({fmt::format("blk.{}.attn_kv_b.weight", layer), GgufType::f32, {32, 6}});
  for (const GgufTensor& t : file.tensors())
    if (!is_replaced(t.name)) headers.push_back({t.name, t.type, t.shape});
  const TemporaryDirectory to;
  GgufWriter writer(to.path("m.gguf"), headers, metadata);
  for (std::int64_t layer = 0; layer < 2; ++layer) {
    const std::string name = fmt::format("model.layers.{}.self_attn.kv_b_proj.weight", layer);
    const std::vector<float> values = to_f32(weights.at(name));
    writer.write(element(headers, layer).name, std::as_bytes(std::span(values)));
  }
  for (const GgufTensorHeader& h : headers)
    if (h.name.find("attn_kv_b.") == h.name.npos) writer.write(h.name, file.tensor(h.name).bytes);
  writer.commit();
  EXPECT_EQ(logits_of(*load(ModelSource::open(to.path("m.gguf")))),
            logits_of(*load(ModelSource::open(exported.path()))));
}

// llama.cpp does not rotate then.
TEST(GgufRoundTrip, AGraniteThatDoesNotRotateIsRefused) {
  const auto error = [](const json& config, bool finetuned) {
    const Exported file(config);
    const TemporaryDirectory to;
    GgufMetadata more;
    more.add(config.at("model_type").get<std::string>() + ".rope.scaling.finetuned", finetuned);
    const std::string path = extended(file.path(), to, more, {});
    return error_of([&] { load(ModelSource::open(path)); });
  };
  EXPECT_TRUE(contains(error(llama_variant("granite"), false), "granite.rope.scaling.finetuned", "false"));
  EXPECT_EQ(error(llama_variant("granite"), true), "");
  EXPECT_EQ(error(llama_variant("llama"), false), "");
}

TEST(GgufRoundTrip, KeysThatDoNotFitTheFamilyAreRefusedByName) {
  const auto error = [](const json& config, const char* key, std::uint32_t value) {
    const Exported file(config);
    const TemporaryDirectory to;
    GgufMetadata more;
    more.add(key, value);
    const std::string path = extended(file.path(), to, more, {}, key);
    return error_of([&] { load(ModelSource::open(path)); });
  };
  EXPECT_TRUE(contains(error(kGlm4Moe, "glm4moe.expert_gating_func", 1), "glm4moe.expert_gating_func", "only 2"));
  EXPECT_TRUE(contains(error(kGlm4Moe, "glm4moe.expert_group_size", 4), "glm4moe.expert_group_size"));
  EXPECT_TRUE(contains(error(kGlm4Moe, "glm4moe.nextn_predict_layers", 2), "glm4moe.nextn_predict_layers"));
  const json gpt_oss = llama_variant("gpt_oss", {{"num_local_experts", 3},
                                                 {"num_experts_per_tok", 2},
                                                 {"head_dim", 4},
                                                 {"rope_parameters", {{"rope_type", "default"}}}});
  EXPECT_TRUE(contains(error(gpt_oss, "gpt-oss.expert_feed_forward_length", 6), "gpt-oss.expert_feed_forward_length",
                       "6 is not supported"));
  EXPECT_TRUE(contains(error(gpt_oss, "gpt-oss.expert_count", 2), "blk.0.ffn_gate_exps.weight", "2 experts"));
}

}  // namespace
}  // namespace tril::model::gguf_round_trip_test
