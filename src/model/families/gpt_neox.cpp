// gpt_neox: parallel sublayers with one norm each, rotation of a quarter of each head, one matrix of q, k, v with
// the heads interleaved [Black et al. 2022, section 2].
#include <nlohmann/json.hpp>

#include "model/families/decoder_families.h"
#include "model/spec/gpt_like.h"
#include "model/spec/rotary_config.h"

namespace tril::model {

std::unique_ptr<Model> make_gpt_neox(const JsonObject& config) {
  ConfigReader reader(config, "gpt_neox");
  GptLikeConfig defaults{.family = "gpt_neox",
                         .architecture = "GPTNeoXForCausalLM",
                         .keys = {.hidden_dropout = {"hidden_dropout"}},
                         .vocab_size = 50432,
                         .hidden_size = 6144,
                         .intermediate_size = 24576,
                         .num_hidden_layers = 44,
                         .num_attention_heads = 64,
                         .bos_token_id = 0,
                         .eos_token_id = 2};
  // The names of other families are accepted if they repeat these values; on their own, transformers ignores them.
  const auto own = [&](const char* name, const char* other, double otherwise) {
    return reader.spelt(name, other) == name ? reader.get<double>(name, otherwise) : otherwise;
  };
  defaults.rope.theta = own("rotary_emb_base", "rope_theta", 10000);
  defaults.partial_rotary_factor = own("rotary_pct", "partial_rotary_factor", 0.25);
  defaults.own_rotary_names = defaults.turns_part_of_head = true;
  reader.ignore({"num_steps"});  // updates of the training run
  GptLikeConfig k = read_gpt_like(reader, defaults);
  k.parallel = reader.get<bool>("use_parallel_residual", true);
  k.attention_bias = k.attention_out_bias = reader.get<bool>("attention_bias", true);
  k.embedding_dropout = k.hidden_dropout;
  k.fused.groups = k.num_attention_heads;
  k.names = {.embedding = "gpt_neox.embed_in",
             .layers = "gpt_neox.layers",
             .attention = "attention",
             .qkv = "query_key_value",
             .out = "dense",
             .first = "dense_h_to_4h",
             .second = "dense_4h_to_h",
             .final_norm = "gpt_neox.final_layer_norm",
             .output = "embed_out"};
  k.own_keys = nlohmann::json{{"use_parallel_residual", k.parallel},
                              {"attention_bias", k.attention_bias},
                              {"rotary_emb_base", k.rope.theta},
                              {"rotary_pct", partial_factor(k.rope.dim, k.hidden_size / k.num_attention_heads)}};
  reader.finish();
  return std::make_unique<GptLike>(std::move(k));
}

}  // namespace tril::model
