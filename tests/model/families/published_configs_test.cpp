// Published config.json files of encoder-decoders and GPT-2s, of all versions: every key is known, keys that would
// change results are refused by name, and null differs from absent.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "model/families/bart.h"
#include "model/families/gpt2.h"
#include "model/families/t5.h"
#include "model_io/contents/generation_config.h"
#include "model_io/source/model_source.h"
#include "model_io/source/registry.h"
#include "support/config_cases.h"
#include "support/small_encoder_decoders.h"
#include "support/temporary.h"

namespace tril::model {
namespace {

using nlohmann::json;
using testing::error_for;
using testing::made;
using testing::with;

// Keys that all configuration classes wrote.
const json kAnyone{{"_name_or_path", "x/y"},
                   {"_num_labels", 3},
                   {"architectures", {"X"}},
                   {"gradient_checkpointing", false},
                   {"id2label", {{"0", "LABEL_0"}}},
                   {"label2id", {{"LABEL_0", 0}}},
                   {"num_labels", 1},
                   {"output_past", true},
                   {"prefix", " "},
                   {"task_specific_params", {{"summarization", {{"num_beams", 4}, {"prefix", "summarize: "}}}}},
                   {"tokenizer_class", "XTokenizer"},
                   {"torch_dtype", "float32"},
                   {"transformers_version", "4.7.0.dev0"},
                   {"use_cache", true},
                   {"xla_device", true},
                   {"eos_token_ids", {2}},
                   {"unk_token_id", 3},
                   {"adapters", {{"config_map", json::object()}}},
                   {"custom_pipelines", json::object()},
                   {"early_stopping", true},
                   {"length_penalty", 2.0},
                   {"max_length", 142},
                   {"min_length", 56},
                   {"no_repeat_ngram_size", 3},
                   {"num_beams", 4}};

json like_bart(const std::string& model_type, std::int64_t d_model, std::int64_t layers, const json& more) {
  const std::int64_t heads = d_model / 64;
  json j = with(kAnyone, {{"model_type", model_type},
                          {"d_model", d_model},
                          {"encoder_layers", layers},
                          {"decoder_layers", layers},
                          {"num_hidden_layers", layers},
                          {"encoder_attention_heads", heads},
                          {"decoder_attention_heads", heads},
                          {"encoder_ffn_dim", 4 * d_model},
                          {"decoder_ffn_dim", 4 * d_model},
                          {"activation_dropout", 0.1},
                          {"attention_dropout", 0.1},
                          {"dropout", 0.1},
                          {"encoder_layerdrop", 0.0},
                          {"decoder_layerdrop", 0.0},
                          {"init_std", 0.02},
                          {"is_encoder_decoder", true},
                          {"classif_dropout", 0.1},
                          {"classifier_dropout", 0.0},
                          {"max_position_embeddings", 1024}});
  return with(j, more);
}

// The switches that one configuration class had for all related models.
json switches(bool before, bool embedding, bool fixed) {
  return {{"add_bias_logits", false},
          {"add_final_layer_norm", before},
          {"normalize_before", before},
          {"normalize_embedding", embedding},
          {"static_position_embeddings", fixed}};
}

std::vector<json> published() {
  const json bart{{"activation_function", "gelu"},
                  {"bos_token_id", 0},
                  {"decoder_start_token_id", 2},
                  {"eos_token_id", 2},
                  {"forced_bos_token_id", 0},
                  {"forced_eos_token_id", 2},
                  {"pad_token_id", 1},
                  {"scale_embedding", false},
                  {"vocab_size", 50265}};
  const json blenderbot{{"activation_function", "gelu"},
                        {"bos_token_id", 1},
                        {"decoder_start_token_id", 1},
                        {"do_blenderbot_90_layernorm", true},
                        {"encoder_no_repeat_ngram_size", 3},
                        {"eos_token_id", 2},
                        {"extra_layer_norm", false},
                        {"extra_pos_embeddings", 0},
                        {"force_bos_token_to_be_generated", false},
                        {"forced_eos_token_id", 2},
                        {"max_position_embeddings", 128},
                        {"pad_token_id", 0},
                        {"scale_embedding", true},
                        {"vocab_size", 8008}};
  const json t5{{"d_kv", 64},
                {"decoder_start_token_id", 0},
                {"dropout_rate", 0.1},
                {"eos_token_id", 1},
                {"initializer_factor", 1.0},
                {"is_encoder_decoder", true},
                {"layer_norm_epsilon", 1e-6},
                {"n_positions", 512},
                {"pad_token_id", 0},
                {"relative_attention_num_buckets", 32}};
  const json gpt2{{"model_type", "gpt2"},
                  {"activation_function", "gelu_new"},
                  {"attn_pdrop", 0.1},
                  {"bos_token_id", 50256},
                  {"embd_pdrop", 0.1},
                  {"eos_token_id", 50256},
                  {"initializer_range", 0.02},
                  {"layer_norm_epsilon", 1e-5},
                  {"n_ctx", 1024},
                  {"n_embd", 768},
                  {"n_head", 12},
                  {"n_layer", 12},
                  {"n_positions", 1024},
                  {"resid_pdrop", 0.1},
                  {"summary_activation", nullptr},
                  {"summary_first_dropout", 0.1},
                  {"summary_proj_to_labels", true},
                  {"summary_type", "cls_index"},
                  {"summary_use_proj", true},
                  {"vocab_size", 50257}};
  const auto t5_variant = [&](const std::string& model_type, const json& more) {
    return with(with(with(kAnyone, t5), {{"model_type", model_type}}), more);
  };
  const json small{{"d_model", 512}, {"num_layers", 6}, {"num_heads", 8}, {"d_ff", 2048}, {"vocab_size", 32128}};
  const json gated{{"d_model", 512},
                   {"num_layers", 8},
                   {"num_decoder_layers", 8},
                   {"num_heads", 6},
                   {"d_ff", 1024},
                   {"feed_forward_proj", "gated-gelu"},
                   {"tie_word_embeddings", false}};
  return {
      like_bart("bart", 1024, 12, with(bart, switches(false, true, false))),
      like_bart("bart", 1024, 12, with(bart, {{"force_bos_token_to_be_generated", true}, {"extra_pos_embeddings", 2}})),
      like_bart("bart", 768, 6, with(bart, switches(false, true, false))),
      like_bart("bart", 768, 6,
                with(with(bart, switches(false, true, false)),
                     {{"author", "someone"}, {"kobart_version", 2.0}, {"pad_token_id", 3}, {"vocab_size", 30000}})),
      like_bart("mbart", 1024, 6,
                with(bart, {{"encoder_tying_config", nullptr},
                            {"multi_source", false},
                            {"wait_k", -1},
                            {"additional_source_wait_k", -1},
                            {"softmax_temperature", 1.0}})),
      like_bart(
          "mbart", 1024, 12,
          with(with(bart, switches(true, true, false)),
               {{"vocab_size", 250054}, {"scale_embedding", true}, {"save_step", 7}, {"activation_function", "relu"}})),
      like_bart("m2m_100", 1024, 12, with(bart, {{"vocab_size", 128112}, {"activation_function", "relu"}})),
      like_bart("m2m_100", 1024, 12, with(bart, {{"vocab_size", 256206}, {"tokenizer_class", "NllbTokenizer"}})),
      like_bart("marian", 512, 6,
                with(switches(false, false, true), {{"activation_function", "swish"},
                                                    {"bad_words_ids", {{58100}}},
                                                    {"bos_token_id", 0},
                                                    {"decoder_start_token_id", 58100},
                                                    {"decoder_vocab_size", 58101},
                                                    {"eos_token_id", 0},
                                                    {"extra_pos_embeddings", 58101},
                                                    {"forced_eos_token_id", 0},
                                                    {"pad_token_id", 58100},
                                                    {"scale_embedding", true},
                                                    {"share_encoder_decoder_embeddings", true},
                                                    {"vocab_size", 58101}})),
      like_bart("pegasus", 1024, 16,
                with(switches(true, false, true), {{"activation_function", "relu"},
                                                   {"bos_token_id", 0},
                                                   {"decoder_start_token_id", 0},
                                                   {"do_blenderbot_90_layernorm", false},
                                                   {"eos_token_id", 1},
                                                   {"extra_pos_embeddings", 1},
                                                   {"force_bos_token_to_be_generated", false},
                                                   {"forced_eos_token_id", 1},
                                                   {"pad_token_id", 0},
                                                   {"scale_embedding", true},
                                                   {"vocab_size", 96103}})),
      like_bart("plbart", 768, 6,
                with(bart, {{"scale_embedding", true}, {"initializer_range", 0.02}, {"vocab_size", 50005}})),
      like_bart("mvp", 1024, 12,
                with(with(bart, switches(false, true, false)),
                     {{"use_prompt", false}, {"prompt_length", 100}, {"prompt_mid_dim", 800}, {"vocab_size", 50267}})),
      like_bart("blenderbot", 1280, 12,
                with(with(blenderbot, switches(true, false, false)),
                     {{"encoder_layers", 2}, {"num_hidden_layers", 2}, {"layernorm_variant", "prelayernorm"}})),
      like_bart("blenderbot-small", 512, 8,
                with(with(blenderbot, switches(false, true, false)),
                     {{"layernorm_variant", "xlm"}, {"max_position_embeddings", 512}, {"vocab_size", 54944}})),
      t5_variant("t5", small),
      t5_variant("t5",
                 with(gated, {{"dense_act_fn", "gelu_new"}, {"is_gated_act", true}, {"classifier_dropout", 0.0}})),
      t5_variant(
          "t5", with(small, {{"add_prefix", true}, {"use_bfloat16", false}, {"relative_attention_max_distance", 128}})),
      t5_variant("mt5", with(gated, {{"vocab_size", 250112}})),
      t5_variant("umt5", with(gated, {{"scalable_attention", true}, {"vocab_size", 256384}})),
      t5_variant("t5", with(gated, {{"vocab_size", 384}, {"tokenizer_class", "ByT5Tokenizer"}, {"d_ff", 3584}})),
      t5_variant("switch_transformers", {{"add_router_probs", true},
                                         {"batch_prioritized_routing", false},
                                         {"d_ff", 3072},
                                         {"d_model", 768},
                                         {"decoder_sparse_step", 2},
                                         {"dense_act_fn", "relu"},
                                         {"encoder_sparse_step", 2},
                                         {"expert_capacity", 64},
                                         {"feed_forward_proj", "relu"},
                                         {"is_gated_act", false},
                                         {"num_decoder_layers", 12},
                                         {"num_experts", 8},
                                         {"num_heads", 12},
                                         {"num_layers", 12},
                                         {"num_selected_experts", 1},
                                         {"num_sparse_decoder_layers", 6},
                                         {"num_sparse_encoder_layers", 6},
                                         {"relative_attention_max_distance", 128},
                                         {"router_aux_loss_coef", 0.001},
                                         {"router_bias", false},
                                         {"router_dtype", "float32"},
                                         {"router_ignore_padding_tokens", false},
                                         {"router_jitter_noise", 0.01},
                                         {"router_type", "tokens_masked"},
                                         {"router_z_loss_coef", 0.001},
                                         {"vocab_size", 32128}}),
      gpt2,
      with(with(kAnyone, gpt2), {{"n_layer", 6}, {"predict_special_tokens", true}}),
      with(gpt2, {{"task_specific_params", {{"conversational", {{"max_length", 1000}}}}}}),
      with(gpt2, {{"author", "someone"},
                  {"created_date", "2021-04-28"},
                  {"license", "CC-BY"},
                  {"reorder_and_upcast_attn", true}}),
  };
}

TEST(PublishedConfigs, AreRead) {
  for (const json& config : published()) EXPECT_EQ(error_for(config), "") << config;
}

TEST(PublishedConfigs, KeysThatAreNotKnownAreRefusedByName) {
  const json asking{{"new_scale", 2.0}, {"new_switch", true}, {"tie_encoder_decoder", true}};
  for (const json& config : published()) {
    for (const auto& [key, value] : asking.items()) {
      const std::string text = error_for(with(config, {{key, value}}));
      EXPECT_NE(text.find(key), std::string::npos) << text << config;
    }
    EXPECT_EQ(error_for(with(config, {{"new_scale", nullptr}, {"new_switch", false}, {"_own", 3}})), "");
  }
}

TEST(PublishedConfigs, WhatTheFamilyDoesNotComputeIsRefused) {
  const auto refused = [](const json& config, const std::string& part) {
    const std::string text = error_for(config);
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  const json bart = testing::bart_variant("bart", json::object()),
             mbart = testing::bart_variant("mbart", json::object()), t5 = testing::t5_variant("t5", json::object());
  for (const char* key : {"normalize_before", "add_final_layer_norm"}) {
    refused(with(bart, {{key, true}}), std::string(key) + ": true is not supported for bart; only false is");
    refused(with(mbart, {{key, false}}), std::string(key) + ": false is not supported for mbart; only true is");
  }
  refused(with(bart, {{"normalize_embedding", false}}), "only true is");
  refused(with(bart, {{"static_position_embeddings", true}}), "only false is");
  for (const char* key : {"add_bias_logits", "is_decoder", "do_blenderbot_90_layernorm"})
    refused(with(bart, {{key, true}}), key);
  refused(with(testing::bart_variant("blenderbot-small", json::object()), {{"do_blenderbot_90_layernorm", false}}),
          "only true is");
  refused(with(testing::bart_variant("blenderbot", json::object()), {{"layernorm_variant", "xlm"}}),
          "layernorm_variant: xlm is not supported for blenderbot; only prelayernorm is");
  refused(with(testing::bart_variant("mvp", json::object()), {{"use_prompt", true}}),
          "use_prompt: true is not supported for mvp; only false is");
  refused(with(mbart, {{"wait_k", 3}}), "wait_k: 3 is not supported for mbart; only -1 is");
  refused(with(t5, {{"is_decoder", true}}), "is_decoder");
  const json experts = testing::t5_variant("switch_transformers", json::object());
  refused(with(experts, {{"router_dtype", "bfloat16"}}), "only float32 is");
  refused(with(experts, {{"router_type", "experts_masked"}}), "only tokens_masked is");
  refused(with(experts, {{"num_selected_experts", 2}}), "only 1 is");
  refused(with(experts, {{"feed_forward_proj", "gated-gelu"}}), "only relu is");
  refused(with(experts, {{"is_gated_act", true}}), "only false is");
  refused(with(experts, {{"expert_capacity", 0}}), "expert_capacity");
}

// transformers 5 treats the second name of a size as the first, whichever value it has.
TEST(PublishedConfigs, SizesOfTheEncoderHaveTwoNames) {
  json bart = testing::bart_variant("bart", {{"num_hidden_layers", 2}, {"hidden_size", 8}, {"num_attention_heads", 2}});
  EXPECT_EQ(error_for(bart), "");
  EXPECT_NE(error_for(with(bart, {{"num_hidden_layers", 3}})).find("num_hidden_layers: 3 contradicts encoder_layers 2"),
            std::string::npos);
  for (const char* key : {"encoder_layers", "d_model", "encoder_attention_heads"}) bart.erase(key);
  EXPECT_EQ(json::parse(made(bart)->config_json()).at("encoder_layers"), 2);
  const json t5 = testing::t5_variant("t5", {{"head_dim", 3}, {"num_hidden_layers", 2}});
  EXPECT_EQ(error_for(t5), "");
  EXPECT_NE(error_for(with(t5, {{"head_dim", 4}})).find("head_dim: 4 contradicts d_kv 3"), std::string::npos);
}

// In `transformers`, the two sides share an embedding only if it is tied to the output.
TEST(PublishedConfigs, MarianEmbeddingsThatAreNotTiedAreNotShared) {
  const json marian = testing::bart_variant(
      "marian", {{"share_encoder_decoder_embeddings", true}, {"pad_token_id", 12}, {"decoder_start_token_id", 12}});
  const auto names = [](const json& config) {
    std::set<std::string> names;
    const auto m = made(config);
    for (const nn::Parameter& p : m->parameters().all()) names.insert(p.name);
    return names;
  };
  EXPECT_TRUE(names(marian).contains("model.shared.weight"));
  const auto untied = made(with(marian, {{"tie_word_embeddings", false}}));
  for (const char* name : {"model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight", "lm_head.weight"})
    EXPECT_TRUE(names(json::parse(untied->config_json())).contains(name)) << name;
  EXPECT_EQ(untied->redundant("model.shared.weight"), Redundant::unused);
  EXPECT_NE(
      error_for(with(marian, {{"tie_word_embeddings", false}, {"decoder_vocab_size", 14}})).find("decoder_vocab_size"),
      std::string::npos);
}

// Without generation_config.json, the defaults of the config classes hold for searches too.
TEST(PublishedConfigs, AbsentKeysOfGenerationHaveTheFamilysValues) {
  const auto generation = [](const json& config) { return generation_of_config(JsonObject(config, "config.json")); };
  for (const char* family :
       {"bart", "mbart", "plbart", "mvp", "pegasus", "m2m_100", "marian", "blenderbot", "blenderbot-small"}) {
    SCOPED_TRACE(family);
    const json config{{"model_type", family}}, none = with(config, {{"forced_eos_token_id", nullptr}});
    EXPECT_EQ(generation(config).value("forced_eos_token_id", json()),
              json::parse(made(config)->config_json()).at("forced_eos_token_id"));
    EXPECT_FALSE(generation(none).contains("forced_eos_token_id"));
    EXPECT_EQ(generation(with(config, {{"forced_eos_token_id", 5}})).at("forced_eos_token_id"), 5);
  }
  EXPECT_EQ(generation({{"model_type", "blenderbot"}}).at("encoder_no_repeat_ngram_size"), 3);
  EXPECT_FALSE(generation({{"model_type", "bart"}}).contains("encoder_no_repeat_ngram_size"));
}

// tril's own families have no defaults: sizes that are missing are named.
TEST(PublishedConfigs, OwnFamiliesStateTheirSizes) {
  for (const char* family : {"marian_nmt", "opennmt"})
    EXPECT_NE(error_for({{"model_type", "tril"}, {"architecture", family}}).find("vocab_size: is missing"),
              std::string::npos)
        << family;
}

TEST(PublishedConfigs, NullIsNotAbsent) {
  const auto ids = [](const json& config) { return made(config)->special_ids(); };
  const json bart = testing::bart_variant("bart", json::object()),
             mbart = testing::bart_variant("mbart", json::object()), t5 = testing::t5_variant("t5", json::object()),
             gpt2{{"model_type", "gpt2"}, {"vocab_size", 50260}, {"n_embd", 8}, {"n_head", 2}, {"n_layer", 1}};
  EXPECT_EQ(ids(bart).bos, 0);
  EXPECT_EQ(ids(bart).decoder_start, 2);
  EXPECT_EQ(ids(with(bart, {{"bos_token_id", nullptr}})).bos, -1);
  EXPECT_EQ(ids(with(bart, {{"decoder_start_token_id", nullptr}})).decoder_start, 0) << "the beginning of a text";
  EXPECT_EQ(ids(mbart).decoder_start, 0);
  const auto forced = [](const json& config) {
    return json::parse(made(config)->config_json()).at("forced_eos_token_id");
  };
  EXPECT_EQ(forced(bart), 2);
  EXPECT_TRUE(forced(with(bart, {{"forced_eos_token_id", nullptr}})).is_null());
  EXPECT_EQ(ids(with(bart, {{"eos_token_id", {5, 2}}})).eos, 5);
  for (const char* key : {"pad_token_id", "eos_token_id"})
    for (const json& config : {bart, t5})
      EXPECT_NE(error_for(with(config, {{key, nullptr}})).find(std::string(key) + ": is null or absent"),
                std::string::npos);
  EXPECT_EQ(ids(t5).decoder_start, 0);
  EXPECT_EQ(ids(with(t5, {{"decoder_start_token_id", nullptr}, {"pad_token_id", 3}})).decoder_start, 3);
  EXPECT_EQ(ids(gpt2).eos, 50256) << "of a vocabulary that grew";
  EXPECT_EQ(ids(with(gpt2, {{"vocab_size", 11}})).eos, -1);
  EXPECT_EQ(ids(with(gpt2, {{"eos_token_id", nullptr}})).eos, -1);
  EXPECT_EQ(ids(with(gpt2, {{"eos_token_id", nullptr}})).bos, 50256);
}

TEST(PublishedConfigs, TheFirstBartSaysInItsOwnWayWhatItsTextsBeginWith) {
  const TemporaryDirectory directory;
  const auto forced = [&](const json& config) {
    directory.write("config.json", config.dump());
    return ModelSource::open(directory.path()).generation().forced_bos_token_id;
  };
  const json bart{{"model_type", "bart"}, {"bos_token_id", 3}, {"force_bos_token_to_be_generated", true}};
  EXPECT_EQ(forced(bart), 3);
  EXPECT_EQ(forced(with(bart, {{"forced_bos_token_id", 4}})), 3) << "as transformers has it";
  EXPECT_EQ(forced(with(bart, {{"force_bos_token_to_be_generated", false}})), std::nullopt);
  EXPECT_EQ(forced(with(bart, {{"model_type", "pegasus"}})), 3);
}

TEST(PublishedConfigs, WhatConfigJsonSaysOfGenerationGoesAlong) {
  const TemporaryDirectory directory;
  const json said{{"num_beams", 4}, {"length_penalty", 2.0}, {"eos_token_id", {2, 5}}, {"do_sample", true}};
  directory.write("config.json", with(said, {{"model_type", "bart"},
                                             {"d_model", 8},
                                             {"min_length", nullptr},
                                             {"bos_token_id", 3},
                                             {"force_bos_token_to_be_generated", true}})
                                     .dump());
  EXPECT_EQ(ModelSource::open(directory.path()).published_generation(),
            with(said, {{"bos_token_id", 3}, {"forced_bos_token_id", 3}, {"forced_eos_token_id", 2}}));
  directory.write("generation_config.json", R"({"num_beams": 2})");
  EXPECT_EQ(ModelSource::open(directory.path()).published_generation(), json({{"num_beams", 2}}));
}

}  // namespace
}  // namespace tril::model
