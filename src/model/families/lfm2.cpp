// lfm2: Llama with a short gated convolution instead of attention in most layers, and norms of queries and keys
// [LFM2, Liquid AI 2025, section 2]. lfm2_moe has, after the first layers, experts by sigmoid scores with a correction.
#include <nlohmann/json.hpp>

#include "model/families/decoder_families.h"
#include "model/families/lfm_defaults.h"
#include "model/spec/llama_like.h"

namespace tril::model {
namespace {

// The width of the feed-forward: two thirds of the configured one, scaled and rounded up, unless the config turns this off.
std::int64_t adjusted_width(ConfigReader& reader, LlamaLikeConfig& k) {
  const std::int64_t given = k.intermediate_size, two_thirds = 2 * given / 3;
  const std::int64_t multiple = read_own_size(reader, k, "block_multiple_of", 256, 1 << 20);
  const bool adjusts = read_own_bool(reader, k, "block_auto_adjust_ff_dim", true);
  if (reader.says_null("block_ffn_dim_multiplier")) {
    k.own_keys["block_ffn_dim_multiplier"] = nullptr;
    if (adjusts && two_thirds == 0) reader.json().fail_at("intermediate_size", "makes a feed-forward of 0 values");
    return adjusts ? two_thirds : given;
  }
  const double factor = read_own_number(reader, k, "block_ffn_dim_multiplier", 1);
  if (!adjusts) return given;
  const double width = factor * static_cast<double>(two_thirds);
  if (!(width >= 1 && width <= (1 << 20)))
    reader.json().fail_at("block_ffn_dim_multiplier", fmt::format("makes a feed-forward of {} values", width));
  return adjusted_lfm2_width(given, factor, multiple);
}

// What both have, but for sizes and the feed-forward.
LlamaLikeConfig lfm2_defaults(const std::string& family, const std::string& architecture) {
  LlamaLikeConfig k = lfm_defaults(family, architecture);
  k.vocab_size = 65536, k.num_key_value_heads = 8, k.pad_token_id = 0;
  k.out_name = "out_proj";
  k.norm_eps_key = "norm_eps";
  return k;
}

// Norms of heads, and the convolution.
void read_mixers(ConfigReader& reader, LlamaLikeConfig& k) {
  k.head_norms = rms_head_norms(k);
  k.head_norms.q = "q_layernorm", k.head_norms.k = "k_layernorm";
  const std::int64_t taps = read_own_size(reader, k, "conv_L_cache", 3, 1 << 10);
  const bool bias = read_own_bool(reader, k, "conv_bias", false);
  k.recurrence = nn::GatedShortConvolution::Options{.d_model = k.hidden_size, .taps = taps, .bias = bias};
  reader.only("hidden_act", std::string("silu"));
}

}  // namespace

std::int64_t adjusted_lfm2_width(std::int64_t given, double factor, std::int64_t multiple) {
  const std::int64_t two_thirds = 2 * given / 3;
  const auto width = static_cast<std::int64_t>(factor * static_cast<double>(two_thirds));
  return (width + multiple - 1) / multiple * multiple;
}

LlamaLikeConfig lfm_defaults(const std::string& family, const std::string& architecture) {
  return {.family = family,
          .architecture = architecture,
          .max_position_embeddings = 128000,
          .norm_eps = 1e-5,
          .tie_word_embeddings = true,
          .rope_defaults = {.theta = 1e6},
          .feed_forward_name = "feed_forward",
          .gate_name = "w1",
          .up_name = "w3",
          .down_name = "w2",
          .recurrence_name = "conv",
          .norm_names = {
              .before_attention = "operator_norm", .before_feed_forward = "ffn_norm", .last = "model.embedding_norm"}};
}

std::unique_ptr<Model> make_lfm2(const JsonObject& config) {
  ConfigReader reader(config, "lfm2");
  LlamaLikeConfig k = lfm2_defaults("lfm2", "Lfm2ForCausalLM");
  k.hidden_size = 2560, k.intermediate_size = 12288;
  k.tie_word_embeddings = reader.get<bool>(reader.spelt("tie_word_embeddings", "tie_embedding"), true);
  k.intermediate_size = reader.size(reader.spelt("intermediate_size", "block_ff_dim"), k.intermediate_size);
  k = read_llama_like(reader, std::move(k));
  k.own_keys["intermediate_size"] = k.intermediate_size;
  k.intermediate_size = adjusted_width(reader, k);
  read_mixers(reader, k);
  const auto attention = reader.get<std::vector<std::int64_t>>("full_attn_idxs", {});
  const bool all = !reader.has("full_attn_idxs") || reader.says_null("full_attn_idxs");
  read_recurrent_layers(reader, k, "conv",
                        [&](std::int64_t i) { return !all && std::ranges::find(attention, i) == attention.end(); });
  reader.only("block_use_swiglu", true);
  reader.only("use_pos_enc", true);
  // Copies of other keys, and the publisher's initialisation.
  reader.ignore({"block_dim", "block_norm_eps", "block_mlp_init_scale", "block_out_init_scale", "block_use_xavier_init",
                 "conv_dim", "conv_dim_out", "conv_use_xavier_init", "num_heads", "theta"});
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

std::unique_ptr<Model> make_lfm2_moe(const JsonObject& config) {
  ConfigReader reader(config, "lfm2_moe");
  if (!reader.has("layer_types"))
    config.fail_at("layer_types", "is missing", "an lfm2_moe config.json must have the type of each layer");
  LlamaLikeConfig k = lfm2_defaults("lfm2_moe", "Lfm2MoeForCausalLM");
  k.hidden_size = 2048, k.intermediate_size = 7168;
  k.tie_word_embeddings = reader.get<bool>(reader.spelt("tie_word_embeddings", "tie_embedding"), true);
  k = read_llama_like(reader, std::move(k));
  read_mixers(reader, k);
  read_recurrent_layers(reader, k, "conv", {});
  read_experts(reader, k, reader.spelt("num_experts", "num_local_experts"), 32, 4);
  ExpertsConfig& e = k.experts;
  e.d_ff = read_own_size(reader, k, "moe_intermediate_size", 1792, 1 << 20);
  read_dense_layers(reader, k, 2, "num_dense_layers");
  e.routing = {.score = ops::RouterOptions::Score::sigmoid,
               .normalised = read_own_bool(reader, k, "norm_topk_prob", true),
               .scale = static_cast<float>(read_own_number(reader, k, "routed_scaling_factor", 1))};
  if (read_own_bool(reader, k, "use_expert_bias", true)) e.correction = "expert_bias";
  e.block = "feed_forward", e.gate = "w1", e.up = "w3", e.down = "w2";
  reader.ignore({"output_router_logits", "theta"});
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

}  // namespace tril::model
