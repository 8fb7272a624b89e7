// phi3: Llama with q, k, v as one matrix and gate and up as one, sliding windows, and for long contexts a separate
// frequency factor for each pair of a head [Abdin et al. 2024; LongRoPE: Ding et al. 2024].
#include <nlohmann/json.hpp>

#include "model/families/decoder_families.h"
#include "model/spec/llama_like.h"

namespace tril::model {

std::unique_ptr<Model> make_phi3(const JsonObject& config) {
  ConfigReader reader(config, "phi3");
  LlamaLikeConfig defaults{.family = "phi3",
                           .architecture = "Phi3ForCausalLM",
                           .vocab_size = 32064,
                           .hidden_size = 3072,
                           .intermediate_size = 8192,
                           .max_position_embeddings = 4096,
                           .norm_eps = 1e-5,
                           .eos_token_id = 32000,
                           .pad_token_id = 32000,
                           .rope_defaults = {.turns_part = true}};
  defaults.rope_defaults.original = reader.size("original_max_position_embeddings", 4096);
  LlamaLikeConfig k = read_llama_like(reader, defaults);
  using Scaling = nn::RotaryOptions::Scaling;
  if (k.rope.scaling != Scaling::none && k.rope.scaling != Scaling::longrope)
    config.fail_at("rope_scaling", "is not longrope", "phi3 models support no other");
  k.rope.read_anew = k.rope.scaling == Scaling::longrope;  // only in this family
  k.fused = LlamaLikeConfig::Fused::qkv;
  k.gate_up_name = "gate_up_proj";
  k.residual_dropout = reader.share("resid_pdrop"), k.embedding_dropout = reader.share("embd_pdrop");
  const std::int32_t window = read_window(reader, 0);
  k.windows.assign(static_cast<std::size_t>(k.num_hidden_layers), window);
  k.own_keys = nlohmann::json{{"sliding_window", window_json(window)},
                              {"original_max_position_embeddings", k.rope.original},
                              {"resid_pdrop", k.residual_dropout},
                              {"embd_pdrop", k.embedding_dropout}};
  reader.only("attention_bias", false);
  for (const char* key : {"full_attn_mod", "interpolate_factor"})
    reader.only(key, std::int64_t{1});  // keys of Phi-4-mini
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

}  // namespace tril::model
