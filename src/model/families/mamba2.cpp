// mamba2: layers of Mamba-2 alone, without attention and feed-forwards [Dao & Gu 2024, "Transformers are SSMs"].
#include <nlohmann/json.hpp>

#include "model/families/decoder_families.h"
#include "model/families/mamba2_keys.h"
#include "model/spec/llama_like.h"

namespace tril::model {

std::unique_ptr<Model> make_mamba2(const JsonObject& config) {
  ConfigReader reader(config, "mamba2");
  LlamaLikeConfig k{.family = "mamba2", .architecture = "Mamba2ForCausalLM"};
  k.vocab_size = 32768, k.num_hidden_layers = 64, k.head_dim = 64, k.max_position_embeddings = 1 << 20;
  k.norm_eps = 1e-5, k.bos_token_id = 0, k.eos_token_id = 2, k.pad_token_id = 1;
  k.embedding_name = "backbone.embeddings", k.layers_name = "backbone.layers", k.recurrence_name = "mixer";
  k.norm_names = {.before_attention = "norm", .before_feed_forward = {}, .last = "backbone.norm_f"};
  k.norm_eps_key = "layer_norm_epsilon";
  k = read_llama_like(reader, std::move(k));
  const auto size = [&](const char* key, std::int64_t otherwise) {
    return read_own_size(reader, k, key, otherwise, 1 << 12);
  };
  nn::Mamba2::Options o{.d_model = k.hidden_size,
                        .num_heads = size("num_heads", 128),
                        .groups = size("n_groups", 8),
                        .d_head = k.head_dim,
                        .d_state = size("state_size", 128),
                        .taps = size("conv_kernel", 4),
                        .conv_bias = read_own_bool(reader, k, "use_conv_bias", true),
                        .in_bias = read_own_bool(reader, k, "use_bias", false),
                        .activation = function_of(k.hidden_act),
                        .norm_eps = static_cast<float>(k.norm_eps)};
  o.out_bias = o.in_bias;
  if (size("expand", 2) * k.hidden_size != o.num_heads * o.d_head)
    config.fail_at("num_heads", fmt::format("{} heads of {} values are not {} times {}", o.num_heads, o.d_head,
                                            k.own_keys["expand"].get<std::int64_t>(), config.name_of("hidden_size")));
  if (o.num_heads % o.groups != 0)
    config.fail_at("n_groups", fmt::format("{} groups do not divide {} heads", o.groups, o.num_heads));
  read_step_limit(reader);
  k.recurrence = o;
  const auto layers = static_cast<std::size_t>(k.num_hidden_layers);
  k.recurrent.assign(layers, true);
  k.sublayers.assign(layers, LlamaLikeConfig::Sublayers::mixer);
  reader.only("rms_norm", true);
  // How transformers computes and begins training, and keys that follow from others.
  reader.ignore({"chunk_size", "time_step_rank", "time_step_min", "time_step_max", "time_step_floor",
                 "time_step_init_scheme", "time_step_scale", "residual_in_fp32", "rescale_prenorm_residual",
                 "intermediate_size", "layer_types", "norm_before_gate"});
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

}  // namespace tril::model
