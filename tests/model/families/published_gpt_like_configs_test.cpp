// Published config.json files of the families that gpt_like.h builds: every key is known, their sizes make the model that
// was published, what would change results is refused by name, and both spellings of a size are one.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "model_io/source/registry.h"
#include "support/config_cases.h"
#include "support/small_gpt_like.h"

namespace tril::model {
namespace {

using nlohmann::json;
using testing::error_for;
using testing::made;
using testing::with;

const json kSummary{{"summary_activation", nullptr},
                    {"summary_first_dropout", 0.1},
                    {"summary_proj_to_labels", true},
                    {"summary_type", "cls_index"},
                    {"summary_use_proj", true}};

// bigscience/bloom-560m
const json kBloom{{"apply_residual_connection_post_layernorm", false},
                  {"attention_dropout", 0.0},
                  {"attention_softmax_in_fp32", true},
                  {"bias_dropout_fusion", true},
                  {"bos_token_id", 1},
                  {"eos_token_id", 2},
                  {"hidden_dropout", 0.0},
                  {"initializer_range", 0.02},
                  {"layer_norm_epsilon", 1e-05},
                  {"masked_softmax_fusion", true},
                  {"model_type", "bloom"},
                  {"n_embed", 1024},
                  {"n_inner", nullptr},
                  {"n_layer", 24},
                  {"num_attention_heads", 16},
                  {"offset_alibi", 100},
                  {"pad_token_id", 3},
                  {"pretraining_tp", 1},
                  {"seq_length", 2048},
                  {"skip_bias_add", true},
                  {"skip_bias_add_qkv", false},
                  {"slow_but_exact", false},
                  {"unk_token_id", 0},
                  {"use_cache", true},
                  {"vocab_size", 250880}};

// mosaicml/mpt-7b
const json kMpt{{"architectures", {"MPTForCausalLM"}},
                {"attn_config",
                 {{"alibi", true},
                  {"alibi_bias_max", 8},
                  {"attn_impl", "torch"},
                  {"attn_pdrop", 0},
                  {"attn_type", "multihead_attention"},
                  {"attn_uses_sequence_id", false},
                  {"clip_qkv", nullptr},
                  {"prefix_lm", false},
                  {"qk_ln", false},
                  {"softmax_scale", nullptr}}},
                {"auto_map", {{"AutoConfig", "configuration_mpt.MPTConfig"}}},
                {"d_model", 4096},
                {"emb_pdrop", 0},
                {"embedding_fraction", 1.0},
                {"expansion_ratio", 4},
                {"init_config", {{"emb_init_std", nullptr}, {"name", "kaiming_normal_"}, {"verbose", 0}}},
                {"init_device", "cpu"},
                {"learned_pos_emb", true},
                {"logit_scale", nullptr},
                {"max_seq_len", 2048},
                {"model_type", "mpt"},
                {"n_heads", 32},
                {"n_layers", 32},
                {"no_bias", true},
                {"norm_type", "low_precision_layernorm"},
                {"resid_pdrop", 0},
                {"tokenizer_name", "EleutherAI/gpt-neox-20b"},
                {"torch_dtype", "bfloat16"},
                {"use_cache", false},
                {"verbose", 0},
                {"vocab_size", 50432}};

// tiiuae/falcon-7b
const json kFalcon{{"alibi", false},
                   {"apply_residual_connection_post_layernorm", false},
                   {"architectures", {"FalconForCausalLM"}},
                   {"attention_dropout", 0.0},
                   {"auto_map", {{"AutoConfig", "configuration_falcon.FalconConfig"}}},
                   {"bias", false},
                   {"bos_token_id", 11},
                   {"eos_token_id", 11},
                   {"hidden_dropout", 0.0},
                   {"hidden_size", 4544},
                   {"initializer_range", 0.02},
                   {"layer_norm_epsilon", 1e-05},
                   {"model_type", "falcon"},
                   {"multi_query", true},
                   {"new_decoder_architecture", false},
                   {"num_attention_heads", 71},
                   {"num_hidden_layers", 32},
                   {"parallel_attn", true},
                   {"torch_dtype", "bfloat16"},
                   {"vocab_size", 65024}};

// tiiuae/falcon-40b
const json kFalcon40b = with(kFalcon, {{"hidden_size", 8192},
                                       {"new_decoder_architecture", true},
                                       {"num_attention_heads", 128},
                                       {"num_hidden_layers", 60},
                                       {"num_kv_heads", 8}});

// tiiuae/falcon-11B
const json kFalcon11b = with(kFalcon, {{"activation", "gelu"},
                                       {"ff_factor", nullptr},
                                       {"ffn_hidden_size", 16384},
                                       {"hidden_size", 4096},
                                       {"max_position_embeddings", 8192},
                                       {"new_decoder_architecture", true},
                                       {"num_attention_heads", 32},
                                       {"num_hidden_layers", 60},
                                       {"num_kv_heads", 8},
                                       {"num_ln_in_parallel_attn", 1},
                                       {"rope_scaling", nullptr},
                                       {"rope_theta", 500042.0},
                                       {"tie_word_embeddings", false}});

// EleutherAI/gpt-j-6b
const json kGptj = with(kSummary, {{"activation_function", "gelu_new"},
                                   {"architectures", {"GPTJForCausalLM"}},
                                   {"attn_pdrop", 0.0},
                                   {"bos_token_id", 50256},
                                   {"embd_pdrop", 0.0},
                                   {"eos_token_id", 50256},
                                   {"gradient_checkpointing", false},
                                   {"initializer_range", 0.02},
                                   {"layer_norm_epsilon", 1e-05},
                                   {"model_type", "gptj"},
                                   {"n_embd", 4096},
                                   {"n_head", 16},
                                   {"n_inner", nullptr},
                                   {"n_layer", 28},
                                   {"n_positions", 2048},
                                   {"resid_pdrop", 0.0},
                                   {"rotary", true},
                                   {"rotary_dim", 64},
                                   {"scale_attn_weights", true},
                                   {"task_specific_params", {{"text-generation", {{"do_sample", true}}}}},
                                   {"tie_word_embeddings", false},
                                   {"tokenizer_class", "GPT2Tokenizer"},
                                   {"vocab_size", 50400}});

// Salesforce/codegen-350M-mono
json codegen_350m() {
  json config = with(kGptj, {{"architectures", {"CodeGenForCausalLM"}},
                             {"bos_token_id", 1},
                             {"model_type", "codegen"},
                             {"n_ctx", 2048},
                             {"n_embd", 1024},
                             {"n_layer", 20},
                             {"rotary_dim", 32},
                             {"vocab_size", 51200}});
  config.erase("rotary");
  return config;
}

// bigcode/gpt_bigcode-santacoder
const json kSantacoder = with(kSummary, {{"activation_function", "gelu_fast"},
                                         {"architectures", {"GPTBigCodeForCausalLM"}},
                                         {"attention_softmax_in_fp32", true},
                                         {"attn_pdrop", 0.1},
                                         {"bos_token_id", 49152},
                                         {"embd_pdrop", 0.1},
                                         {"eos_token_id", 49152},
                                         {"inference_runner", 0},
                                         {"initializer_range", 0.02},
                                         {"layer_norm_epsilon", 1e-05},
                                         {"max_batch_size", nullptr},
                                         {"max_sequence_length", nullptr},
                                         {"model_type", "gpt_bigcode"},
                                         {"multi_query", true},
                                         {"n_embd", 2048},
                                         {"n_head", 16},
                                         {"n_inner", 8192},
                                         {"n_layer", 24},
                                         {"n_positions", 2048},
                                         {"pad_key_length", true},
                                         {"pre_allocate_kv_cache", false},
                                         {"resid_pdrop", 0.1},
                                         {"scale_attention_softmax_in_fp32", true},
                                         {"scale_attn_weights", true},
                                         {"validate_runner_input", true},
                                         {"vocab_size", 49280}});

// EleutherAI/gpt-neo-125m
json gpt_neo_125m() {
  json kinds = json::array();
  for (int i = 0; i < 12; ++i) kinds.push_back(i % 2 == 0 ? "global" : "local");
  return with(kSummary, {{"activation_function", "gelu_new"},
                         {"architectures", {"GPTNeoForCausalLM"}},
                         {"attention_dropout", 0},
                         {"attention_layers", kinds},
                         {"attention_types", {{{"global", "local"}, 6}}},
                         {"bos_token_id", 50256},
                         {"embed_dropout", 0},
                         {"eos_token_id", 50256},
                         {"hidden_size", 768},
                         {"intermediate_size", nullptr},
                         {"layer_norm_epsilon", 1e-05},
                         {"max_position_embeddings", 2048},
                         {"model_type", "gpt_neo"},
                         {"num_heads", 12},
                         {"num_layers", 12},
                         {"resid_dropout", 0},
                         {"vocab_size", 50257},
                         {"window_size", 256}});
}

// facebook/xglm-564M
const json kXglm{{"activation_dropout", 0},
                 {"activation_function", "gelu"},
                 {"architectures", {"XGLMForCausalLM"}},
                 {"attention_dropout", 0.1},
                 {"attention_heads", 16},
                 {"bos_token_id", 0},
                 {"d_model", 1024},
                 {"decoder_start_token_id", 2},
                 {"dropout", 0.1},
                 {"eos_token_id", 2},
                 {"ffn_dim", 4096},
                 {"init_std", 0.02},
                 {"layerdrop", 0.0},
                 {"max_position_embeddings", 2048},
                 {"model_type", "xglm"},
                 {"num_layers", 24},
                 {"pad_token_id", 1},
                 {"scale_embedding", true},
                 {"vocab_size", 256008}};

// microsoft/biogpt
const json kBiogpt{{"activation_dropout", 0.0},
                   {"architectures", {"BioGptForCausalLM"}},
                   {"attention_probs_dropout_prob", 0.1},
                   {"bos_token_id", 0},
                   {"eos_token_id", 2},
                   {"hidden_act", "gelu"},
                   {"hidden_dropout_prob", 0.1},
                   {"hidden_size", 1024},
                   {"initializer_range", 0.02},
                   {"intermediate_size", 4096},
                   {"layer_norm_eps", 1e-12},
                   {"layerdrop", 0.0},
                   {"max_position_embeddings", 1024},
                   {"model_type", "biogpt"},
                   {"num_attention_heads", 16},
                   {"num_hidden_layers", 24},
                   {"pad_token_id", 1},
                   {"scale_embedding", true},
                   {"vocab_size", 42384}};

// Parameters as the model cards and `transformers` count them, tied matrices once.
TEST(PublishedGptLike, AreTheModelsThatWerePublished) {
  const std::vector<std::pair<json, std::int64_t>> published{
      {kBloom, 559214592},         {kMpt, 6649286656},  {kFalcon, 6921720704},       {kFalcon40b, 41303293952},
      {kFalcon11b, 11102822400},   {kGptj, 6050882784}, {codegen_350m(), 356712448}, {kSantacoder, 1124886528},
      {gpt_neo_125m(), 125198592}, {kXglm, 564463616},  {kBiogpt, 346763264}};
  for (const auto& [config, count] : published) {
    SCOPED_TRACE(config.dump());
    ASSERT_EQ(error_for(config), "");
    const auto m = made(config);
    std::int64_t sum = 0;
    for (const nn::Parameter& p : m->parameters().all()) sum += p.shape.count();
    EXPECT_EQ(sum, count);
    for (const auto& [key, value] : {std::pair<std::string, json>{"new_scale", 2.0}, {"new_switch", true}}) {
      const std::string text = error_for(with(config, {{key, value}}));
      EXPECT_NE(text.find(key), std::string::npos) << text;
    }
  }
}

TEST(PublishedGptLike, WhatIsNotComputedIsRefused) {
  const auto refused = [](const json& config, const json& more, const std::string& part) {
    const std::string text = error_for(with(config, more));
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  const auto mpt_with = [](const json& more) { return json{{"attn_config", with(kMpt.at("attn_config"), more)}}; };
  for (const json& config : {kBloom, kFalcon})
    refused(config, {{"apply_residual_connection_post_layernorm", true}},
            "apply_residual_connection_post_layernorm: true is not supported");
  refused(kBloom, {{"n_inner", 1024}}, "n_inner: 1024 is not supported for bloom; only 4096 is");
  refused(kBloom, {{"hidden_size", 2048}}, "n_embed: 1024 contradicts hidden_size 2048");
  refused(kMpt, mpt_with({{"alibi", false}}), "attn_config: alibi: false is not supported for mpt; only true is");
  refused(kMpt, mpt_with({{"clip_qkv", 6}}), "clip_qkv");
  refused(kMpt, mpt_with({{"alibi_bias_max", 16}}), "alibi_bias_max: 16 is not supported for mpt; only 8 is");
  refused(kMpt, mpt_with({{"attn_type", "multiquery_attention"}}), "attn_type");
  refused(kMpt, mpt_with({{"softmax_scale", 0}}), "softmax_scale");
  for (const char* key : {"prefix_lm", "qk_ln", "rope"}) refused(kMpt, mpt_with({{key, true}}), key);
  refused(kMpt, {{"logit_scale", 0.5}}, "logit_scale");
  refused(kMpt, {{"logit_scale", "inv_sqrt_d_model"}}, "logit_scale");
  refused(kMpt, {{"no_bias", false}}, "no_bias");
  refused(kMpt, {{"expansion_ratio", 2}}, "expansion_ratio");
  refused(kMpt, {{"norm_type", "rmsnorm"}}, "norm_type");
  refused(kFalcon, {{"alibi", true}}, "alibi: true is not supported for falcon; only false is");
  refused(kFalcon, {{"num_ln_in_parallel_attn", 2}}, "num_ln_in_parallel_attn: 2 is not supported without");
  refused(kFalcon40b, {{"num_ln_in_parallel_attn", 3}}, "num_ln_in_parallel_attn: 3");
  refused(kFalcon40b, {{"parallel_attn", false}}, "parallel_attn: false is not supported");
  refused(kFalcon40b, {{"num_kv_heads", 3}}, "num_kv_heads: 3 key heads do not divide 128 heads");
  refused(kFalcon, {{"multi_query", false}, {"num_kv_heads", 1}}, "num_kv_heads: 1 is not supported");
  for (const json& config : {kGptj, codegen_350m()}) {
    refused(config, {{"rotary_dim", nullptr}}, "rotary_dim: is null");
    refused(config, {{"rotary_dim", 63}}, "rotary_dim: 63 values");
    refused(config, {{"rotary_dim", 512}}, "rotary_dim: 512 values");
  }
  refused(codegen_350m(), {{"n_embd", 1022}, {"n_head", 14}}, "n_embd: 1022 cannot be divided into 4 blocks");
  refused(kSantacoder, {{"num_key_value_heads", 16}}, "num_key_value_heads: 16 is not supported");
  refused(kSantacoder, {{"add_cross_attention", true}}, "add_cross_attention");
  refused(gpt_neo_125m(), {{"num_layers", 13}}, "attention_types: has 12 layers, but num_layers is 13");
  for (const char* types : {R"("global")", R"([[["global"], -1]])", R"([[["global"], 1073741824]])",
                            R"([[["sparse"], 12]])", R"([["global", 12]])", R"([[["global", "local"]]])", "[[[], 12]]"})
    refused(gpt_neo_125m(), {{"attention_types", json::parse(types)}}, "attention_types: ");
  refused(gpt_neo_125m(), {{"attention_layers", std::vector<std::string>(12, "global")}},
          "attention_layers: contradicts");
  refused(kXglm, {{"pad_token_id", 2}}, "pad_token_id: 2 is not supported for xglm");
  refused(kXglm, {{"d_model", 1023}, {"attention_heads", 3}}, "d_model: 1023 is odd");
}

// transformers reads its own names of sizes beside a family's.
TEST(PublishedGptLike, SizesHaveTwoNames) {
  const json names{{"n_layer", "num_hidden_layers"},
                   {"n_layers", "num_hidden_layers"},
                   {"num_layers", "num_hidden_layers"},
                   {"n_head", "num_attention_heads"},
                   {"n_heads", "num_attention_heads"},
                   {"num_heads", "num_attention_heads"},
                   {"attention_heads", "num_attention_heads"},
                   {"n_embd", "hidden_size"},
                   {"d_model", "hidden_size"}};
  for (const json& config : testing::small_gpt_like()) {
    json other = config;
    for (const auto& [own, common] : names.items())
      if (config.contains(own)) other.erase(own), other[common.get<std::string>()] = config.at(own);
    ASSERT_EQ(error_for(other), "") << other;
    EXPECT_EQ(made(other)->config_json(), made(config)->config_json());
  }
}

}  // namespace
}  // namespace tril::model
