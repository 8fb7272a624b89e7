#include "model_io/marian/marian_names.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

namespace tril::model {
namespace {

// The names of a layer's parts in Marian's files and in the model.
void add_attention(std::vector<MarianTensor>& list, const std::string& marian, const std::string& here) {
  constexpr std::array<std::pair<char, const char*>, 4> parts{
      {{'q', "q_proj"}, {'k', "k_proj"}, {'v', "v_proj"}, {'o', "out_proj"}}};
  for (const auto& [letter, part] : parts) {
    list.push_back({fmt::format("{}_W{}", marian, letter), fmt::format("{}.{}.weight", here, part)});
    list.push_back(
        {fmt::format("{}_b{}", marian, letter), fmt::format("{}.{}.bias", here, part), MarianLayout::vector});
  }
}

void add_norm(std::vector<MarianTensor>& list, const std::string& marian, const std::string& here, bool pre_norm) {
  const char* const suffix = pre_norm ? "_pre" : "";
  list.push_back({fmt::format("{}_ln_scale{}", marian, suffix), here + ".weight", MarianLayout::vector});
  list.push_back({fmt::format("{}_ln_bias{}", marian, suffix), here + ".bias", MarianLayout::vector});
}

// The kind of layers.
struct Layers {
  bool pre_norm = false, ssru = false;
};

void add_ssru(std::vector<MarianTensor>& list, const std::string& marian, const std::string& here, bool pre_norm) {
  list.push_back({marian + "_rnn_W", here + ".ssru.in_proj.weight"});
  list.push_back({marian + "_rnn_Wf", here + ".ssru.forget_proj.weight"});
  list.push_back({marian + "_rnn_bf", here + ".ssru.forget_proj.bias", MarianLayout::vector});
  add_norm(list, marian + "_rnn_ffn", here + ".ssru_layer_norm", pre_norm);
}

void add_layer(std::vector<MarianTensor>& list, const char* side, std::int64_t i, const Layers& layers) {
  const bool pre_norm = layers.pre_norm;
  const std::string marian = fmt::format("{}_l{}", side, i + 1), here = fmt::format("model.{}.layers.{}", side, i);
  const bool decodes = side == std::string_view("decoder");
  if (decodes && layers.ssru) {
    add_ssru(list, marian, here, pre_norm);
  } else {
    add_attention(list, marian + "_self", here + ".self_attn");
    add_norm(list, marian + "_self_Wo", here + ".self_attn_layer_norm", pre_norm);
  }
  if (decodes) {
    add_attention(list, marian + "_context", here + ".encoder_attn");
    add_norm(list, marian + "_context_Wo", here + ".encoder_attn_layer_norm", pre_norm);
  }
  for (const char* number : {"1", "2"}) {
    list.push_back({fmt::format("{}_ffn_W{}", marian, number), fmt::format("{}.fc{}.weight", here, number)});
    list.push_back(
        {fmt::format("{}_ffn_b{}", marian, number), fmt::format("{}.fc{}.bias", here, number), MarianLayout::vector});
  }
  add_norm(list, marian + "_ffn_ffn", here + ".final_layer_norm", pre_norm);
}

}  // namespace

std::vector<MarianTensor> marian_tensors(const nlohmann::json& config, bool has_transposed_output) {
  const bool pre_norm = config.at("normalize_before");
  const Layers kind{.pre_norm = pre_norm, .ssru = config.value("decoder_cell", "") == "ssru"};
  std::vector<MarianTensor> list;
  if (config.at("share_encoder_decoder_embeddings")) {
    list.push_back({"Wemb", "model.shared.weight", MarianLayout::rows});
  } else {
    list.push_back({"encoder_Wemb", "model.encoder.embed_tokens.weight", MarianLayout::rows});
    list.push_back({"decoder_Wemb", "model.decoder.embed_tokens.weight", MarianLayout::rows});
  }
  for (const char* side : {"encoder", "decoder"}) {
    const std::int64_t layers = config.at(std::string(side) + "_layers");
    for (std::int64_t i = 0; i < layers; ++i) add_layer(list, side, i, kind);
    if (pre_norm) add_norm(list, std::string(side) + "_top", fmt::format("model.{}.layer_norm", side), false);
  }
  if (!config.at("tie_word_embeddings"))
    list.push_back({has_transposed_output ? "decoder_ff_logit_out_W" : "decoder_ff_logit_out_Wt", "lm_head.weight",
                    MarianLayout::rows});
  list.push_back({"decoder_ff_logit_out_b", "final_logits_bias", MarianLayout::logits_bias});
  return list;
}

}  // namespace tril::model
