// gemma2: gemma with norms before and behind each sublayer, windows in every other layer, and soft caps of scores and
// logits; scores are scaled by a number of their own [Gemma team 2024, "Gemma 2", section 2].
#include <cmath>
#include <nlohmann/json.hpp>

#include "model/families/decoder_families.h"
#include "model/spec/llama_like.h"

namespace tril::model {

std::unique_ptr<Model> make_gemma2(const JsonObject& config) {
  ConfigReader reader(config, "gemma2");
  LlamaLikeConfig k = read_llama_like(reader, {.family = "gemma2",
                                               .architecture = "Gemma2ForCausalLM",
                                               .vocab_size = 256000,
                                               .hidden_size = 2304,
                                               .intermediate_size = 9216,
                                               .num_hidden_layers = 26,
                                               .num_attention_heads = 8,
                                               .num_key_value_heads = 4,
                                               .head_dim = 256,
                                               .max_position_embeddings = 8192,
                                               .hidden_act = "gelu_pytorch_tanh",
                                               .tie_word_embeddings = true,
                                               .bos_token_id = 2,
                                               .eos_token_id = 1,
                                               .pad_token_id = 0,
                                               .norms = LlamaLikeConfig::Norms::both,
                                               .hidden_act_key = "hidden_activation"});
  reader.ignore({"hidden_act", "sliding_window_size"});  // copies that no version reads
  k.attention_bias = k.attention_out_bias = reader.get<bool>("attention_bias", false);
  const std::int64_t pre_attention =
      reader.size("query_pre_attn_scalar", 256);  // a whole number, as transformers has it
  check_size(config, "query_pre_attn_scalar", pre_attention, 1 << 30);
  const auto cap = [&](const char* key, double otherwise) {
    return reader.says_null(key) ? 0.0 : reader.positive(key, otherwise);
  };
  const auto cap_json = [](double value) { return value == 0 ? nlohmann::json(nullptr) : nlohmann::json(value); };
  const double scores = cap("attn_logit_softcapping", 50), logits = cap("final_logit_softcapping", 30);
  const std::int32_t window = read_window(reader, 4096);
  k.windows =
      read_layer_windows(reader, k.num_hidden_layers, window, [](std::int64_t layer) { return layer % 2 == 0; });
  k.embedding_scale = std::sqrt(static_cast<float>(k.hidden_size));
  k.attention_scale = static_cast<float>(1 / std::sqrt(static_cast<double>(pre_attention)));
  k.attention_softcap = static_cast<float>(scores);
  k.logit_softcap = static_cast<float>(logits);
  k.norms_store_offset = true;
  k.own_keys =
      nlohmann::json{{"attention_bias", k.attention_bias},         {"query_pre_attn_scalar", pre_attention},
                     {"attn_logit_softcapping", cap_json(scores)}, {"final_logit_softcapping", cap_json(logits)},
                     {"sliding_window", window_json(window)},      {"layer_types", layer_types_json(k.windows)}};
  reader.only("use_bidirectional_attention", false);
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

}  // namespace tril::model
