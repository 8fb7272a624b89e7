// gemma: Llama with a feed-forward gated by gelu, embeddings times the square root of their width, and a head size of its
// own. Files store the weights of norms minus one [Gemma team 2024, section 2].
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "model/families/decoder_families.h"
#include "model/spec/llama_like.h"

namespace tril::model {

std::unique_ptr<Model> make_gemma(const JsonObject& config) {
  ConfigReader reader(config, "gemma");
  LlamaLikeConfig k = read_llama_like(reader, {.family = "gemma",
                                               .architecture = "GemmaForCausalLM",
                                               .vocab_size = 256000,
                                               .hidden_size = 3072,
                                               .intermediate_size = 24576,
                                               .num_hidden_layers = 28,
                                               .num_attention_heads = 16,
                                               .head_dim = 256,
                                               .max_position_embeddings = 8192,
                                               .hidden_act = HiddenAct::gelu_pytorch_tanh,
                                               .tie_word_embeddings = true,
                                               .bos_token_id = 2,
                                               .eos_token_id = 1,
                                               .pad_token_id = 0});
  // The first files have gelu where they mean its tanh form. A second key, hidden_activation, was read by version 4 and is
  // no longer used; it must mean the same.
  const HiddenAct written = k.hidden_act;
  if (written == HiddenAct::gelu) k.hidden_act = HiddenAct::gelu_pytorch_tanh;
  const HiddenAct other = reader.hidden_act("hidden_activation", k.hidden_act);
  if (function_of(other) != function_of(k.hidden_act))
    config.fail_at("hidden_activation", fmt::format("{} contradicts hidden_act {}, which means {} here", name_of(other),
                                                    name_of(written), name_of(k.hidden_act)));
  k.attention_bias = k.attention_out_bias = reader.get<bool>("attention_bias", false);
  k.embedding_scale = std::sqrt(static_cast<float>(k.hidden_size));
  k.norms_store_offset = true;
  k.own_keys = nlohmann::json{{"attention_bias", k.attention_bias}, {"hidden_activation", name_of(k.hidden_act)}};
  reader.only("use_bidirectional_attention", false);
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

}  // namespace tril::model
