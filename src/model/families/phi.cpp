// phi: parallel sublayers after one shared norm, rotation of half of each head, an output with biases [Li et al.
// 2023, section 2.1; Phi-2].
#include <nlohmann/json.hpp>

#include "model/families/decoder_families.h"
#include "model/spec/gpt_like.h"

namespace tril::model {

std::unique_ptr<Model> make_phi(const JsonObject& config) {
  ConfigReader reader(config, "phi");
  GptLikeConfig k =
      read_gpt_like(reader, {.family = "phi",
                             .architecture = "PhiForCausalLM",
                             .keys = {.hidden_dropout = {"resid_pdrop"}, .embedding_dropout = {"embd_pdrop"}},
                             .vocab_size = 51200,
                             .hidden_size = 2048,
                             .intermediate_size = 8192,
                             .num_hidden_layers = 24,
                             .num_attention_heads = 32,
                             .hidden_act = HiddenAct::gelu_new,
                             .bos_token_id = 1,
                             .eos_token_id = 2,
                             .partial_rotary_factor = 0.5,
                             .turns_part_of_head = true});
  k.num_key_value_heads =
      reader.has("num_key_value_heads") ? reader.size("num_key_value_heads", 1) : k.num_attention_heads;
  if (k.num_attention_heads % k.num_key_value_heads != 0)
    config.fail_at("num_key_value_heads",
                   fmt::format("{} key heads do not divide {} heads", k.num_key_value_heads, k.num_attention_heads));
  const bool head_norms = reader.get<bool>("qk_layernorm", false);
  if (head_norms)
    k.head_norms = {.each = {.over = nn::HeadNorm::Over::head,
                             .kind = nn::Norm::Kind::layer,
                             .eps = static_cast<float>(k.layer_norm_eps)},
                    .q = "q_layernorm",
                    .k = "k_layernorm"};
  k.one_norm = true;
  k.output_bias = true;
  k.names = {.embedding = "model.embed_tokens",
             .layers = "model.layers",
             .attention = "self_attn",
             .out = "dense",
             .first = "fc1",
             .second = "fc2",
             .final_norm = "model.final_layernorm",
             .output = "lm_head"};
  k.own_keys = nlohmann::json{{"num_key_value_heads", k.num_key_value_heads}, {"qk_layernorm", head_norms}};
  reader.finish();
  return std::make_unique<GptLike>(std::move(k));
}

}  // namespace tril::model
