// A config.json for every encoder-decoder family that Hugging Face has, small enough for tests.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace tril::testing {

inline nlohmann::json bart_variant(const std::string& model_type, const nlohmann::json& rest) {
  nlohmann::json j{{"model_type", model_type},     {"vocab_size", 13},    {"d_model", 8},
                   {"encoder_attention_heads", 2}, {"encoder_layers", 2}, {"encoder_ffn_dim", 12},
                   {"decoder_attention_heads", 4}, {"decoder_layers", 2}, {"decoder_ffn_dim", 16},
                   {"max_position_embeddings", 9}, {"dropout", 0.25},     {"init_std", 0.5}};
  j.update(rest);
  return j;
}

inline nlohmann::json t5_variant(const std::string& model_type, const nlohmann::json& rest) {
  nlohmann::json j{{"model_type", model_type},
                   {"vocab_size", 13},
                   {"d_model", 8},
                   {"d_kv", 3},
                   {"d_ff", 12},
                   {"num_layers", 2},
                   {"num_heads", 2},
                   {"dropout_rate", 0.25},
                   {"relative_attention_num_buckets", 8},
                   {"relative_attention_max_distance", 6}};
  j.update(rest);
  return j;
}

/// One side of t5gemma.
inline nlohmann::json gemma_side(const nlohmann::json& rest) {
  nlohmann::json j{{"model_type", "t5_gemma_module"},
                   {"vocab_size", 13},
                   {"hidden_size", 8},
                   {"intermediate_size", 12},
                   {"num_hidden_layers", 2},
                   {"num_attention_heads", 4},
                   {"num_key_value_heads", 2},
                   {"head_dim", 4},
                   {"query_pre_attn_scalar", 5},
                   {"sliding_window", 2},
                   {"layer_types", {"sliding_attention", "full_attention"}},
                   {"attn_logit_softcapping", 3.0},
                   {"final_logit_softcapping", 5.0},
                   {"max_position_embeddings", 16},
                   {"initializer_range", 0.5},
                   {"bos_token_id", 2},
                   {"eos_token_id", 1},
                   {"pad_token_id", 0}};
  j.update(rest);
  return j;
}

inline std::vector<nlohmann::json> small_encoder_decoders() {
  const nlohmann::json wider = gemma_side({{"hidden_size", 12},
                                           {"num_attention_heads", 2},
                                           {"num_hidden_layers", 1},
                                           {"layer_types", {"sliding_attention"}}});
  return {
      {{"model_type", "t5gemma"},
       {"encoder", wider},
       {"decoder", gemma_side(nlohmann::json::object())},
       {"vocab_size", 13},
       {"initializer_range", 0.5},
       {"dropout_rate", 0.25},
       {"tie_word_embeddings", false}},
      bart_variant("marian", {{"pad_token_id", 12}, {"decoder_start_token_id", 12}, {"decoder_vocab_size", 13}}),
      bart_variant("tril", {{"architecture", "marian_nmt"},
                            {"pad_token_id", 12},
                            {"decoder_start_token_id", 12},
                            {"decoder_vocab_size", 13}}),
      bart_variant("tril", {{"architecture", "marian_nmt"},
                            {"pad_token_id", 12},
                            {"decoder_start_token_id", 12},
                            {"normalize_before", true},
                            {"activation_function", "gelu"},
                            {"share_encoder_decoder_embeddings", false}}),
      bart_variant("tril", {{"architecture", "marian_nmt"},
                            {"pad_token_id", 12},
                            {"decoder_start_token_id", 12},
                            {"decoder_cell", "ssru"}}),
      bart_variant("tril", {{"architecture", "marian_nmt"},
                            {"pad_token_id", 12},
                            {"decoder_start_token_id", 12},
                            {"normalize_before", true},
                            {"decoder_cell", "ssru"},
                            {"tie_word_embeddings", false}}),
      bart_variant("bart", {{"scale_embedding", true}, {"forced_eos_token_id", nullptr}}),
      bart_variant("mbart", {{"tie_word_embeddings", false}, {"decoder_start_token_id", 5}}),
      bart_variant("m2m_100",
                   {{"scale_embedding", false}, {"activation_function", "gelu"}, {"encoder_layerdrop", 0.5}}),
      bart_variant("pegasus", {{"activation_function", "silu"}, {"bos_token_id", 3}}),
      bart_variant("plbart", {{"initializer_range", 0.5}}),
      bart_variant("mvp", {{"use_prompt", false}, {"prompt_length", 100}}),
      bart_variant("blenderbot", {{"scale_embedding", true}, {"layernorm_variant", "prelayernorm"}}),
      // Texts without padding: a norm over its zero row bends too quickly for finite differences.
      bart_variant("blenderbot-small",
                   {{"pad_token_id", 12}, {"scale_embedding", true}, {"do_blenderbot_90_layernorm", true}}),
      t5_variant("t5", {{"feed_forward_proj", "silu"}, {"num_decoder_layers", 1}}),
      t5_variant("t5", {{"feed_forward_proj", "gated-gelu"}, {"tie_word_embeddings", false}}),
      t5_variant("mt5", {{"tie_word_embeddings", false}}),
      t5_variant("umt5", {{"tie_word_embeddings", false}, {"num_decoder_layers", 1}}),
      t5_variant("umt5", {{"feed_forward_proj", "silu"}, {"num_decoder_layers", 3}}),
      t5_variant("switch_transformers", {{"num_decoder_layers", 2},
                                         {"num_experts", 3},
                                         {"num_sparse_encoder_layers", 1},
                                         {"num_sparse_decoder_layers", 2},
                                         {"dense_act_fn", "silu"},
                                         {"router_bias", true}}),
      t5_variant("switch_transformers", {{"num_decoder_layers", 2},
                                         {"num_experts", 2},
                                         {"num_sparse_encoder_layers", 2},
                                         {"num_sparse_decoder_layers", 1},
                                         {"dense_act_fn", "silu"},
                                         {"tie_word_embeddings", false}}),
  };
}

}  // namespace tril::testing
