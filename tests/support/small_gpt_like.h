// A config.json for every family that model/spec/gpt_like.h builds, and for their variants, small enough for tests.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace tril::testing {

/// @param sizes  the family's own keys for width, layers and heads
inline nlohmann::json gpt_variant(const std::string& model_type, const std::vector<std::string>& sizes,
                                  const nlohmann::json& rest = nlohmann::json::object()) {
  nlohmann::json j{{"model_type", model_type}, {"vocab_size", 13}, {sizes[0], 16}, {sizes[1], 2}, {sizes[2], 4},
                   {"bos_token_id", 1},        {"eos_token_id", 2}};
  j.update(rest);
  return j;
}

inline std::vector<nlohmann::json> small_gpt_like() {
  const std::vector<std::string> bloom{"hidden_size", "n_layer", "n_head"}, mpt{"d_model", "n_layers", "n_heads"},
      falcon{"hidden_size", "num_hidden_layers", "num_attention_heads"}, gpt2{"n_embd", "n_layer", "n_head"},
      gpt_neo{"hidden_size", "num_layers", "num_heads"}, xglm{"d_model", "num_layers", "attention_heads"};
  const nlohmann::json wide{{"initializer_range", 0.5}};
  const auto with = [&](nlohmann::json more) {
    more.update(wide);
    return more;
  };
  const nlohmann::json gptj = with({{"n_positions", 16}, {"rotary_dim", 2}, {"n_inner", 12}, {"embd_pdrop", 0.2}});
  const nlohmann::json fairseq{{"max_position_embeddings", 16}, {"pad_token_id", 1}};
  nlohmann::json xglm_more = fairseq, biogpt_more = fairseq;
  xglm_more.update({{"ffn_dim", 12}, {"init_std", 0.5}, {"activation_dropout", 0.1}});
  biogpt_more.update({{"intermediate_size", 12}, {"initializer_range", 0.5}, {"scale_embedding", false}});
  return {
      gpt_variant("bloom", bloom, with({{"hidden_dropout", 0.2}})),
      gpt_variant("mpt", mpt, with({{"max_seq_len", 16}, {"attn_config", {{"softmax_scale", 0.3}}}})),
      gpt_variant("falcon", falcon, with({{"ffn_hidden_size", 12}})),
      gpt_variant("falcon", falcon, with({{"parallel_attn", false}, {"multi_query", false}, {"bias", true}})),
      gpt_variant("falcon", falcon, with({{"new_decoder_architecture", true}, {"num_kv_heads", 2}})),
      gpt_variant("falcon", falcon,
                  with({{"new_decoder_architecture", true}, {"num_kv_heads", 2}, {"num_ln_in_parallel_attn", 1}})),
      gpt_variant("gptj", gpt2, gptj),
      gpt_variant("codegen", gpt2, gptj),
      gpt_variant("gpt_bigcode", gpt2, with({{"n_positions", 16}})),
      gpt_variant("gpt_bigcode", gpt2,
                  with({{"n_positions", 16}, {"multi_query", false}, {"scale_attn_weights", false}})),
      gpt_variant("gpt_neo", gpt_neo,
                  with({{"max_position_embeddings", 16},
                        {"attention_types", {{{"global", "local"}, 1}}},
                        {"window_size", 3},
                        {"resid_dropout", 0.2}})),
      gpt_variant("xglm", xglm, xglm_more),
      gpt_variant("biogpt", falcon, biogpt_more),
  };
}

}  // namespace tril::testing
