// mixtral: mistral whose feed-forward is a mixture of experts, of which a router chooses a few for each token [Jiang et
// al. 2024, section 2.1].
#include <nlohmann/json.hpp>

#include "model/families/decoder_families.h"
#include "model/spec/llama_like.h"

namespace tril::model {

std::unique_ptr<Model> make_mixtral(const JsonObject& config) {
  ConfigReader reader(config, "mixtral");
  LlamaLikeConfig k = read_llama_like(reader, {.family = "mixtral",
                                               .architecture = "MixtralForCausalLM",
                                               .intermediate_size = 14336,
                                               .num_key_value_heads = 8,
                                               .max_position_embeddings = 4096 * 32,
                                               .rms_norm_eps = 1e-5,
                                               .rope = {.theta = 1e6}});
  k.num_local_experts = reader.size("num_local_experts", 8);
  check_size(config, "num_local_experts", k.num_local_experts, 1 << 12);
  // Each is three weights of its own: a few numbers in a small file must not ask for millions of them.
  if (constexpr std::int64_t most = 1 << 16; k.num_local_experts * k.num_hidden_layers > most)
    config.fail_at(
        "num_local_experts",
        fmt::format("{} in each of {} layers makes {} experts, above the supported maximum of {}", k.num_local_experts,
                    k.num_hidden_layers, k.num_local_experts * k.num_hidden_layers, most));
  k.num_experts_per_tok = reader.size("num_experts_per_tok", 2);
  check_size(config, "num_experts_per_tok", k.num_experts_per_tok, k.num_local_experts);
  const std::int32_t window = read_window(reader, 0);
  k.windows.assign(static_cast<std::size_t>(k.num_hidden_layers), window);
  // Of training: how much its balance weighs is asked of `tril train`, and its noise is not made.
  k.own_keys = nlohmann::json{{"num_local_experts", k.num_local_experts},
                              {"num_experts_per_tok", k.num_experts_per_tok},
                              {"sliding_window", window_json(window)},
                              {"output_router_logits", reader.get<bool>("output_router_logits", false)},
                              {"router_aux_loss_coef", reader.at_least_0("router_aux_loss_coef", 0.001)},
                              {"router_jitter_noise", reader.at_least_0("router_jitter_noise", 0)}};
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

}  // namespace tril::model
