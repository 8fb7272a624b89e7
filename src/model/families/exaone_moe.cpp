// exaone_moe: K-EXAONE. exaone4's attention in pre-norm layers; after the first layers, experts by sigmoid scores with a correction
// and by groups, beside a shared one [LG AI Research 2026, section 2].
#include <nlohmann/json.hpp>

#include "model/families/decoder_families.h"
#include "model/families/exaone4.h"
#include "model/spec/llama_like.h"

namespace tril::model {

std::unique_ptr<Model> make_exaone_moe(const JsonObject& config) {
  ConfigReader reader(config, "exaone_moe");
  LlamaLikeConfig k = read_llama_like(reader, {.family = "exaone_moe",
                                               .architecture = "ExaoneMoeForCausalLM",
                                               .vocab_size = 102400,
                                               .intermediate_size = 16384,
                                               .num_key_value_heads = 32,
                                               .norm_eps = 1e-5,
                                               .eos_token_id = 53,
                                               .pad_token_id = 0,
                                               .left_alone = {"mtp."}});
  read_exaone_windows(reader, k);
  k.head_norms = rms_head_norms(k);
  read_experts(reader, k, reader.spelt("num_experts", "n_routed_experts"), 64, 8);
  k.experts.d_ff = read_own_size(reader, k, "moe_intermediate_size", 1024, 1 << 20);
  const std::int64_t shared = read_own_size(reader, k, "num_shared_experts", 1, 1 << 12);
  k.experts.shared_d_ff = k.experts.d_ff * shared;
  read_expert_groups(reader, k, {});
  k.experts.routing.score = ops::RouterOptions::Score::sigmoid;
  k.experts.routing.normalised = read_own_bool(reader, k, "norm_topk_prob", true);
  k.experts.routing.scale = static_cast<float>(read_own_number(reader, k, "routed_scaling_factor", 2.5));
  k.experts.correction = "e_score_correction_bias";
  if (reader.has("mlp_layer_types")) {
    read_mlp_layer_types(reader, k);
    reader.ignore({"first_k_dense_replace"});
  } else {
    read_dense_layers(reader, k, 1);
  }
  reader.only<std::string>("scoring_func", "sigmoid");
  reader.only<std::string>("topk_method", "noaux_tc");
  reader.ignore({"output_router_logits", "num_nextn_predict_layers"});
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

}  // namespace tril::model
