// glm and glm4: Llama that rotates half of each head, by neighbouring values, with gate and up as one matrix [GLM team 2024].
// glm4 has a norm after each sublayer too [GLM team 2025].
#include "model/families/decoder_families.h"
#include "model/spec/llama_like.h"

namespace tril::model {
namespace {

LlamaLikeConfig read_glm(ConfigReader& reader, const std::string& family, const std::string& architecture,
                         const NormNames& norms) {
  LlamaLikeConfig k =
      read_llama_like(reader, {.family = family,
                               .architecture = architecture,
                               .vocab_size = 151552,
                               .intermediate_size = 13696,
                               .num_hidden_layers = 40,
                               .num_key_value_heads = 2,
                               .head_dim = 128,
                               .max_position_embeddings = 131072,
                               .norm_eps = 1.5625e-7,
                               .bos_token_id = -1,
                               .eos_token_id = 151329,
                               .pad_token_id = 151329,
                               .rope_defaults = {.partial = 0.5, .turns_part = true, .interleaved = true},
                               .gate_up_name = "gate_up_proj",
                               .norm_names = norms});
  k.attention_bias = read_own_bool(reader, k, "attention_bias", true);
  reader.finish();
  return k;
}

}  // namespace

std::unique_ptr<Model> make_glm(const JsonObject& config) {
  ConfigReader reader(config, "glm");
  return std::make_unique<LlamaLike>(read_glm(reader, "glm", "GlmForCausalLM", {}));
}

std::unique_ptr<Model> make_glm4(const JsonObject& config) {
  ConfigReader reader(config, "glm4");
  return std::make_unique<LlamaLike>(
      read_glm(reader, "glm4", "Glm4ForCausalLM",
               {.after_attention = "post_self_attn_layernorm", .after_feed_forward = "post_mlp_layernorm"}));
}

}  // namespace tril::model
