// gpt_neox: parallel sublayers with a norm each, a quarter of each head turned, one matrix of q, k, v head by head [Black
// et al. 2022, section 2].
#include <nlohmann/json.hpp>

#include "model/families/decoder_families.h"
#include "model/spec/parallel_decoder.h"
#include "model/spec/rotary_config.h"

namespace tril::model {

std::unique_ptr<Model> make_gpt_neox(const JsonObject& config) {
  ConfigReader reader(config, "gpt_neox");
  ParallelDecoderConfig defaults{.family = "gpt_neox",
                                 .architecture = "GPTNeoXForCausalLM",
                                 .vocab_size = 50432,
                                 .hidden_size = 6144,
                                 .intermediate_size = 24576,
                                 .num_hidden_layers = 44,
                                 .num_attention_heads = 64,
                                 .bos_token_id = 0,
                                 .eos_token_id = 2};
  // Other families' names of these may stand beside them where they agree; alone transformers passes over them.
  const auto own = [&](const char* name, const char* other, double otherwise) {
    return reader.spelt(name, other) == name ? reader.get<double>(name, otherwise) : otherwise;
  };
  defaults.rope.theta = own("rotary_emb_base", "rope_theta", 10000);
  defaults.partial_rotary_factor = own("rotary_pct", "partial_rotary_factor", 0.25);
  defaults.own_rotary_names = true;
  reader.ignore({"num_steps"});  // how far a publisher's run had come
  ParallelDecoderConfig k = read_parallel_decoder(reader, defaults);
  k.parallel = reader.get<bool>("use_parallel_residual", true);
  k.attention_bias = reader.get<bool>("attention_bias", true);
  k.hidden_dropout = k.embedding_dropout = reader.share("hidden_dropout");
  k.head_by_head = true;
  k.names = {.embedding = "gpt_neox.embed_in",
             .layers = "gpt_neox.layers",
             .attention = "attention",
             .out = "dense",
             .qkv = "query_key_value",
             .first = "dense_h_to_4h",
             .second = "dense_4h_to_h",
             .final_norm = "gpt_neox.final_layer_norm",
             .output = "embed_out"};
  k.own_keys = nlohmann::json{{"use_parallel_residual", k.parallel},
                              {"attention_bias", k.attention_bias},
                              {"hidden_dropout", k.hidden_dropout},
                              {"rotary_emb_base", k.rope.theta},
                              {"rotary_pct", partial_factor(k.rope.dim, k.hidden_size / k.num_attention_heads)}};
  reader.finish();
  return std::make_unique<ParallelDecoder>(std::move(k));
}

}  // namespace tril::model
