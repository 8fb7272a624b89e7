// exaone: EXAONE 3 and 3.5. Llama under names of their own, for weights and for three keys [LG AI Research 2024].
#include <array>
#include <nlohmann/json.hpp>

#include "model/families/decoder_families.h"
#include "model/spec/llama_like.h"
#include "model/spec/renamed_keys.h"

namespace tril::model {
namespace {

constexpr std::array<std::pair<const char*, const char*>, 3> exaone_keys{{{"num_layers", "num_hidden_layers"},
                                                                          {"layer_norm_epsilon", "rms_norm_eps"},
                                                                          {"activation_function", "hidden_act"}}};

}  // namespace

std::unique_ptr<Model> make_exaone(const JsonObject& config) {
  const RenamedConfig renamed = rename_keys(config, exaone_keys);
  const JsonObject json(renamed.json, config.where(), &renamed.names);
  ConfigReader reader(json, "exaone");
  LlamaLikeConfig k = read_llama_like(
      reader, {.family = "exaone",
               .architecture = "ExaoneForCausalLM",
               .vocab_size = 102400,
               .intermediate_size = 14336,
               .num_key_value_heads = 8,
               .max_position_embeddings = 4096,
               .norm_eps = 1e-5,
               .eos_token_id = 361,
               .pad_token_id = 0,
               .rope_defaults = {.theta = 5e5},
               .attention_name = "attn.attention",
               .out_name = "out_proj",
               .embedding_name = "transformer.wte",
               .layers_name = "transformer.h",
               .gate_name = "c_fc_0",
               .up_name = "c_fc_1",
               .down_name = "c_proj",
               .norm_names = {.before_attention = "ln_1", .before_feed_forward = "ln_2", .last = "transformer.ln_f"}});
  read_attention_bias(reader, k);
  k.mlp_bias = read_own_bool(reader, k, "mlp_bias", false);
  reader.ignore({"embed_dropout"});
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

}  // namespace tril::model
