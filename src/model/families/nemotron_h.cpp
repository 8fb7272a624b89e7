// nemotron_h: layers with one sublayer each: Mamba-2, attention without positions, a feed-forward with a squared relu, or experts
// of that kind beside a shared one, routed by sigmoid scores with a correction bias [NVIDIA 2025, "Nemotron-H"; "Nemotron 3"].
#include <algorithm>
#include <nlohmann/json.hpp>

#include "model/families/decoder_families.h"
#include "model/families/mamba2_keys.h"
#include "model/spec/llama_like.h"

namespace tril::model {
namespace {

// The types of layers that hybrid_override_pattern writes as letters.
std::vector<std::string> types_of_pattern(ConfigReader& reader, const std::string& pattern) {
  std::vector<std::string> types;
  for (const char letter : pattern) {
    if (letter != 'M' && letter != 'E' && letter != '*' && letter != '-')
      reader.json().fail_at("hybrid_override_pattern", fmt::format("'{}' is not the letter of a layer", letter),
                            "expected M (Mamba-2), * (attention), - (feed-forward) and E (experts)");
    types.emplace_back(letter == 'M'   ? kMambaLayer.older
                       : letter == '*' ? kAttentionLayer.older
                       : letter == '-' ? kFeedForwardLayer.name
                                       : kExpertLayer.name);
  }
  return types;
}

// The name that types_of_pattern() gives to a type.
std::string_view name_of_kind(std::string_view type) {
  return kMambaLayer.is(type) ? kMambaLayer.older : kAttentionLayer.is(type) ? kAttentionLayer.older : type;
}

// The types of layers; the number of layers follows from them. A config.json may have them in both forms.
std::vector<std::string> types_of_layers(ConfigReader& reader) {
  const std::string key = reader.spelt("layers_block_type", "layer_types");
  constexpr const char* kPattern = "hybrid_override_pattern";
  const bool lists = reader.has(key) && !reader.says_null(key),
             letters = reader.has(kPattern) && !reader.says_null(kPattern);
  if (!lists && !letters)
    reader.json().fail_at(key, "is missing", "a nemotron_h config.json must have it or hybrid_override_pattern");
  std::vector<std::string> of_letters;
  if (letters) of_letters = types_of_pattern(reader, reader.get<std::string>(kPattern, ""));
  if (!lists) return of_letters;
  auto types = reader.get<std::vector<std::string>>(key, {});
  if (letters && !std::ranges::equal(types, of_letters, {}, name_of_kind))
    reader.json().fail_at(kPattern, fmt::format("does not name the layers of {}", key), "remove the wrong one");
  return types;
}

void read_layers(ConfigReader& reader, LlamaLikeConfig& k, const std::vector<std::string>& types) {
  using Sublayers = LlamaLikeConfig::Sublayers;
  if (std::ssize(types) != k.num_hidden_layers)
    reader.json().fail_at("num_hidden_layers",
                          fmt::format("is {}, but there are types of {} layers", k.num_hidden_layers, types.size()));
  for (const std::string& type : read_types_of_layers(
           reader, k, "layers_block_type", {kMambaLayer, kAttentionLayer, kFeedForwardLayer, kExpertLayer}, types)) {
    const bool mixes = !kFeedForwardLayer.is(type) && !kExpertLayer.is(type);
    k.sublayers.push_back(mixes ? Sublayers::mixer : Sublayers::feed_forward);
    k.recurrent.push_back(kMambaLayer.is(type));
    k.experts.sparse.push_back(kExpertLayer.is(type));
  }
  k.own_keys["layers_block_type"] = types;
}

void read_mamba(ConfigReader& reader, LlamaLikeConfig& k) {
  const auto size = [&](const std::string& key, std::int64_t otherwise) {
    return read_own_size(reader, k, key, otherwise, 1 << 12);
  };
  nn::Mamba2::Options o{.d_model = k.hidden_size,
                        .num_heads = size("mamba_num_heads", 128),
                        .groups = size(reader.spelt("n_groups", "mamba_n_groups"), 8),
                        .d_head = size("mamba_head_dim", 64),
                        .d_state = size("ssm_state_size", 128),
                        .taps = size(reader.spelt("conv_kernel", "mamba_d_conv"), 4),
                        .conv_bias = read_own_bool(reader, k, reader.spelt("use_conv_bias", "mamba_conv_bias"), true),
                        .in_bias = read_own_bool(reader, k, "use_bias", false),
                        .norm_eps = static_cast<float>(k.norm_eps)};
  o.out_bias = o.in_bias;
  if (o.num_heads % o.groups != 0)
    reader.json().fail_at("n_groups", fmt::format("{} groups do not divide {} heads", o.groups, o.num_heads));
  o.activation = function_of(reader.hidden_act("mamba_hidden_act", HiddenAct::silu));
  k.own_keys["mamba_hidden_act"] = reader.get<std::string>("mamba_hidden_act", "silu");
  read_step_limit(reader);
  read_own_number(reader, k, "time_step_min", 0.001);  // a bound of steps in prompts only, and in transformers alone
  k.recurrence = o;
}

void read_moe(ConfigReader& reader, LlamaLikeConfig& k) {
  ExpertsConfig& e = k.experts;
  read_experts(reader, k, reader.spelt("n_routed_experts", "num_local_experts"), 8, 2);
  e.d_ff = read_own_size(reader, k, "moe_intermediate_size", 7688, 1 << 20);
  e.shared_d_ff = read_own_size(reader, k, "moe_shared_expert_intermediate_size", 7688, 1 << 20);
  read_expert_groups(reader, k, {});
  e.routing.score = ops::RouterOptions::Score::sigmoid;
  e.routing.normalised = read_own_bool(reader, k, "norm_topk_prob", true);
  e.routing.scale = static_cast<float>(read_own_number(reader, k, "routed_scaling_factor", 1));
  e.correction = "gate.e_score_correction_bias";
  e.block = "mixer", e.gated = false;
  if (k.mlp_bias)
    reader.json().fail_at("mlp_bias", "is not supported with experts: only the shared one would have biases");
  if (reader.has("moe_latent_size") && !reader.says_null("moe_latent_size"))
    reader.json().fail_at("moe_latent_size", "experts that compute in a narrower space are not supported");
}

}  // namespace

std::unique_ptr<Model> make_nemotron_h(const JsonObject& config) {
  ConfigReader reader(config, "nemotron_h");
  const std::vector<std::string> types = types_of_layers(reader);
  LlamaLikeConfig k{.family = "nemotron_h", .architecture = "NemotronHForCausalLM"};
  k.vocab_size = 131072, k.intermediate_size = 21504, k.num_key_value_heads = 8, k.head_dim = 128;
  k.num_hidden_layers = std::ssize(types);
  k.max_position_embeddings = 4096, k.norm_eps = 1e-5, k.pad_token_id = 0;
  k.embedding_name = "backbone.embeddings", k.layers_name = "backbone.layers";
  k.attention_name = k.recurrence_name = k.feed_forward_name = "mixer";
  k.norm_names = {.before_attention = "norm", .before_feed_forward = "norm", .last = "backbone.norm_f"};
  k.feed_forward = LlamaLikeConfig::FeedForward::plain;
  k.hidden_act_key = "mlp_hidden_act", k.hidden_act = HiddenAct::relu2;
  k.norm_eps_key = "layer_norm_epsilon";
  k = read_llama_like(reader, std::move(k));
  k.rotated.assign(types.size(), false);
  read_attention_bias(reader, k);
  k.mlp_bias = read_own_bool(reader, k, "mlp_bias", false);
  reader.only("mamba_proj_bias", false);
  read_layers(reader, k, types);
  read_mamba(reader, k);
  if (std::ranges::find(types, kExpertLayer.name) != types.end()) read_moe(reader, k);
  k.left_alone = {"mtp."};  // layers that predict further tokens
  if (!reader.says_null("sliding_window")) reader.only("sliding_window", std::int64_t{0});
  reader.ignore({"num_logits_to_keep",
                 "expand",
                 "mamba_expand",
                 "chunk_size",
                 "mamba_chunk_size",
                 "mamba_ssm_cache_dtype",
                 "use_mamba_kernels",
                 "time_step_max",
                 "time_step_floor",
                 "mamba_dt_min",
                 "mamba_dt_max",
                 "mamba_dt_init_floor",
                 "n_shared_experts",
                 "moe_shared_expert_overlap",
                 "num_nextn_predict_layers",
                 "mtp_layers_block_type",
                 "mtp_hybrid_override_pattern",
                 "residual_in_fp32",
                 "hidden_dropout",
                 "rescale_prenorm_residual",
                 "output_router_logits",
                 "attention_head_dim",
                 "norm_eps",
                 "rms_norm_eps",
                 "n_routed_experts",
                 "num_experts_per_tok",
                 "moe_intermediate_size",
                 "moe_shared_expert_intermediate_size",
                 "n_group",
                 "topk_group",
                 "norm_topk_prob",
                 "routed_scaling_factor",
                 "moe_latent_size"});
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

}  // namespace tril::model
