// minimax_m2: a part of each head rotated, norms over all queries and over all keys, experts routed by sigmoid scores with a
// correction [MiniMax 2025].
#include <algorithm>
#include "model/families/decoder_families.h"
#include "model/spec/llama_like.h"

namespace tril::model {

std::unique_ptr<Model> make_minimax_m2(const JsonObject& config) {
  ConfigReader reader(config, "minimax_m2");
  // Files give the number of rotated values or their share of a head.
  const std::int64_t head_dim = reader.size("head_dim", 128), rotated = reader.size("rotary_dim", head_dim);
  const double partial = static_cast<double>(rotated) / static_cast<double>(std::max<std::int64_t>(head_dim, 1));
  LlamaLikeConfig k =
      read_llama_like(reader, {.family = "minimax_m2",
                               .architecture = "MiniMaxM2ForCausalLM",
                               .vocab_size = 200064,
                               .hidden_size = 3072,
                               .intermediate_size = 1536,
                               .num_hidden_layers = 62,
                               .num_attention_heads = 48,
                               .num_key_value_heads = 8,
                               .head_dim = 128,
                               .max_position_embeddings = 196608,
                               .bos_token_id = 200034,
                               .eos_token_id = 200020,
                               .rope_defaults = {.theta = 5e6, .partial = partial, .turns_part = true}});
  k.head_norms = {.each = {.over = nn::HeadNorm::Over::projection, .eps = static_cast<float>(k.norm_eps)}};
  read_experts(reader, k, reader.spelt("num_local_experts", "num_experts"), 256, 8);
  read_router_training(reader, k, 0.001);
  k.experts.block = "block_sparse_moe";
  k.experts.gate = "w1", k.experts.up = "w3", k.experts.down = "w2";
  k.experts.correction = "e_score_correction_bias";
  k.experts.routing.score = ops::RouterOptions::Score::sigmoid;
  // Keys of the authors' code with fixed values, and heads that predict further tokens, which are not read.
  for (const char* key : {"use_qk_norm", "use_routing_bias"}) reader.only(key, true);
  reader.only<std::string>("scoring_func", "sigmoid");
  reader.only<std::string>("qk_norm_type", "per_layer");
  reader.ignore({"attn_type_list", "mtp_transformer_layers", "num_mtp_modules", "use_mtp", "shared_intermediate_size"});
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

}  // namespace tril::model
