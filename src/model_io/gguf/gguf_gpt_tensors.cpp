#include "model_io/gguf/gguf_gpt_tensors.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

namespace tril::model {
namespace {

using Form = GgufRule::Form;

// Weights and biases by their names: pairs for the model, then pairs for each layer of the module `layers`.
struct GptNames {
  using Pairs = std::vector<std::pair<std::string_view, std::string_view>>;
  Pairs model;
  std::string_view layers;
  Pairs of_layers;
  Form qkv = Form::same, matrices = Form::same;
};

std::vector<GgufRule> gpt_like(const GptNames& names) {
  std::vector<GgufRule> rules;
  for (const auto& [gguf, hf] : names.model)
    for (const char* end : {"weight", "bias"})
      rules.push_back({fmt::format("{}.{}", gguf, end), fmt::format("{}.{}", hf, end)});
  for (const auto& [gguf, hf] : names.of_layers)
    for (const char* end : {"weight", "bias"}) {
      const bool weights = std::string_view(end) == "weight", norm = gguf.find("norm") != gguf.npos;
      rules.push_back({fmt::format("blk.{{}}.{}.{}", gguf, end), fmt::format("{}.{{}}.{}.{}", names.layers, hf, end),
                       gguf == "attn_qkv" && names.qkv != Form::same ? names.qkv
                       : weights && !norm                            ? names.matrices
                                                                     : Form::same});
    }
  return rules;
}

std::vector<GgufRule> gpt2(Form matrices) {
  return gpt_like({.model = {{"token_embd", "transformer.wte"},
                             {"position_embd", "transformer.wpe"},
                             {"output_norm", "transformer.ln_f"},
                             {"output", "lm_head"}},
                   .layers = "transformer.h",
                   .of_layers = {{"attn_norm", "ln_1"},
                                 {"ffn_norm", "ln_2"},
                                 {"attn_qkv", "attn.c_attn"},
                                 {"attn_output", "attn.c_proj"},
                                 {"ffn_up", "mlp.c_fc"},
                                 {"ffn_down", "mlp.c_proj"}},
                   .matrices = matrices});
}

std::vector<GgufRule> gpt_neox() {
  return gpt_like({.model = {{"token_embd", "gpt_neox.embed_in"},
                             {"output_norm", "gpt_neox.final_layer_norm"},
                             {"output", "embed_out"}},
                   .layers = "gpt_neox.layers",
                   .of_layers = {{"attn_norm", "input_layernorm"},
                                 {"ffn_norm", "post_attention_layernorm"},
                                 {"attn_qkv", "attention.query_key_value"},
                                 {"attn_output", "attention.dense"},
                                 {"ffn_up", "mlp.dense_h_to_4h"},
                                 {"ffn_down", "mlp.dense_4h_to_h"}},
                   .qkv = Form::grouped});
}

std::vector<GgufRule> bloom() {
  return gpt_like({.model = {{"token_embd", "transformer.word_embeddings"},
                             {"token_embd_norm", "transformer.word_embeddings_layernorm"},
                             {"output_norm", "transformer.ln_f"},
                             {"output", "lm_head"}},
                   .layers = "transformer.h",
                   .of_layers = {{"attn_norm", "input_layernorm"},
                                 {"ffn_norm", "post_attention_layernorm"},
                                 {"attn_qkv", "self_attention.query_key_value"},
                                 {"attn_output", "self_attention.dense"},
                                 {"ffn_up", "mlp.dense_h_to_4h"},
                                 {"ffn_down", "mlp.dense_4h_to_h"}},
                   .qkv = Form::grouped});
}

// A model with two norms has that of the feed-forward as attn_norm, and that of the attention as attn_norm_2.
std::vector<GgufRule> falcon(bool two_norms) {
  const GptNames::Pairs norms = two_norms ? GptNames::Pairs{{"attn_norm", "ln_mlp"}, {"attn_norm_2", "ln_attn"}}
                                          : GptNames::Pairs{{"attn_norm", "input_layernorm"}};
  std::vector<GgufRule> rules = gpt_like({.layers = "transformer.h", .of_layers = norms});
  for (GgufRule& rule : gpt_like({.model = {{"token_embd", "transformer.word_embeddings"},
                                            {"output_norm", "transformer.ln_f"},
                                            {"output", "lm_head"}},
                        .layers = "transformer.h",
                        .of_layers = {{"attn_qkv", "self_attention.query_key_value"},
                                      {"attn_output", "self_attention.dense"},
                                      {"ffn_up", "mlp.dense_h_to_4h"},
                                      {"ffn_down", "mlp.dense_4h_to_h"}},
                        .qkv = Form::grouped}))
    rules.push_back(std::move(rule));
  return rules;
}

std::vector<GgufRule> mpt() {
  return gpt_like(
      {.model = {{"token_embd", "transformer.wte"}, {"output_norm", "transformer.norm_f"}, {"output", "lm_head"}},
       .layers = "transformer.blocks",
       .of_layers = {{"attn_norm", "norm_1"},
                     {"ffn_norm", "norm_2"},
                     {"attn_qkv", "attn.Wqkv"},
                     {"attn_output", "attn.out_proj"},
                     {"ffn_up", "ffn.up_proj"},
                     {"ffn_down", "ffn.down_proj"}}});
}

std::vector<GgufRule> phi() {
  return gpt_like(
      {.model = {{"token_embd", "model.embed_tokens"}, {"output_norm", "model.final_layernorm"}, {"output", "lm_head"}},
       .layers = "model.layers",
       .of_layers = {{"attn_norm", "input_layernorm"},
                     {"attn_q", "self_attn.q_proj"},
                     {"attn_k", "self_attn.k_proj"},
                     {"attn_v", "self_attn.v_proj"},
                     {"attn_output", "self_attn.dense"},
                     {"ffn_up", "mlp.fc1"},
                     {"ffn_down", "mlp.fc2"}}});
}

}  // namespace

std::vector<GgufRule> gpt_gguf_rules(const nlohmann::json& config) {
  const std::string model_type = config.at("model_type");
  if (model_type == "gpt2") return gpt2(Form::transposed);
  if (model_type == "gpt_bigcode") return gpt2(Form::same);
  if (model_type == "gpt_neox") return gpt_neox();
  if (model_type == "bloom") return bloom();
  if (model_type == "falcon") {
    const nlohmann::json norms = config.value("num_ln_in_parallel_attn", nlohmann::json());
    return falcon(norms == 2);
  }
  if (model_type == "mpt") return mpt();
  if (model_type == "phi") return phi();
  return {};
}

}  // namespace tril::model
