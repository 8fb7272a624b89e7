// config.json of Llama and the families like it: sizes, the variations of families (llama_like.h), and the readers of keys
// that several of them have.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "model/spec/config_reader.h"
#include "model/spec/rotary_config.h"
#include "nn/decoder_layer.h"

namespace tril::model {

/// The norms of a layer by their names in it, "" where there is none, and the last one of all.
struct NormNames {
  std::string before_attention = "input_layernorm", after_attention;
  std::string before_feed_forward = "post_attention_layernorm", after_feed_forward;
  std::string last = "model.norm";
};
/// Behind each sublayer instead of before it [OLMo 2, 2025].
NormNames post_norms();
/// Before and behind each [Gemma 2, 2024].
NormNames sandwich_norms();

/// Mixtures of experts in place of feed-forwards, and what the family calls their parts.
struct ExpertsConfig {
  std::int64_t count = 0, per_token = 0;  ///< 0: there are none
  std::int64_t d_ff = 0;                  ///< of each; 0: intermediate_size
  std::int64_t shared_d_ff = 0;           ///< of the shared expert; 0: there is none
  ops::RouterOptions routing;
  std::vector<bool> sparse;  ///< whether each layer has them; empty: all do
  std::string block = "mlp", router = "gate", shared = "shared_experts";
  std::string correction, shared_gate;  ///< nn::ExpertFeedForward::Options
  std::string gate = "gate_proj", up = "up_proj", down = "down_proj";
  /// Tensors of the block that hold all experts, gate over up and down; "": each expert has its own.
  std::string fused_gate_up, fused_down;
  struct FusedForm {
    bool transposed = false;   ///< each expert's part is [in, out],
    bool interleaved = false;  ///< and gate and up take turns in it
    std::string bias_suffix;   ///< after the tensors' names: of all experts' biases
  } fused_form;
  bool bias = false, router_bias = false;
  std::optional<ops::GateClamp> clamp;  ///< nn::GatedFeedForward::Options
};

struct LlamaLikeConfig {
  std::string family, architecture;  ///< "llama", "LlamaForCausalLM"

  std::int64_t vocab_size = 32000, hidden_size = 4096, intermediate_size = 11008;
  std::int64_t num_hidden_layers = 32, num_attention_heads = 32;
  std::int64_t num_key_value_heads = 0;  ///< 0: num_attention_heads
  std::int64_t head_dim = 0;             ///< 0: hidden_size / num_attention_heads
  std::int64_t max_position_embeddings = 2048;
  std::string hidden_act = "silu";
  double norm_eps = 1e-6, initializer_range = 0.02;
  bool tie_word_embeddings = false, output_bias = false;
  float attention_dropout = 0;
  std::int32_t bos_token_id = 1, eos_token_id = 2, pad_token_id = -1;
  nn::RotaryOptions rope;
  std::optional<nn::RotaryOptions> sliding_rope;  ///< of layers with a window; none: as the others
  std::vector<bool> rotated;                      ///< whether each layer rotates queries and keys; empty: all do
  RotaryDefaults rope_defaults = {};              ///< what this family reads of rotary positions
  bool rope_by_type = false;                      ///< rope_parameters are by layer type: the family reads them

  // The variations of the families.
  bool attention_bias = false, attention_out_bias = false, mlp_bias = false;
  /// Keys and values are one matrix with the queries: q, k, v, or head by head q, k, v.
  enum class Fused : std::uint8_t { none, qkv, head_by_head } fused = Fused::none;
  std::string qkv_name = "qkv_proj", out_name = "o_proj";
  bool result_gate = false;             ///< nn::Attention::Options::result_gate
  float clip_qkv = 0;                   ///< nn::Attention::Options::clip
  bool sink_logits = false;             ///< nn::Attention::Options::sink_logits
  std::string attention_result_norm;    ///< nn::Attention::Options::result_norm
  std::vector<std::int32_t> windows;    ///< of each layer, 0: none; empty: none anywhere
  nn::Attention::HeadNorms head_norms;  ///< of queries and keys
  float attention_scale = 0;            ///< of scores; 0: 1 / sqrt(head_dim)
  /// Latent attention in every layer, whose heads have head_dim rotated values; none: attention.
  std::optional<nn::LatentAttention::Options> latent;
  float embedding_scale = 1, residual_scale = 1, logit_scale = 1;
  float attention_softcap = 0, logit_softcap = 0;  ///< of scaled scores and of logits; 0: none
  ExpertsConfig experts;
  /// gated: f(gate) * up; plain: f(up); xielu: f(up) with nn::Xielu, which is what hidden_act says then.
  enum class FeedForward : std::uint8_t { gated, plain, xielu } feed_forward = FeedForward::gated;
  std::string gate_up_name;  ///< one matrix of gate and up; "": two
  std::string feed_forward_name = "mlp", gate_name = "gate_proj", up_name = "up_proj", down_name = "down_proj";
  std::string feed_forward_inner_norm;  ///< nn::GatedFeedForward::Options::inner_norm

  /// What stands in place of attention in some layers, its name in them, and in which; empty: in none.
  std::variant<nn::GatedShortConvolution::Options, nn::GatedDeltaNet::Options> recurrence;
  std::string recurrence_name;
  std::vector<bool> recurrent;

  nn::Norm::Kind norm = nn::Norm::Kind::rms;  ///< of all norms but those of heads
  NormNames norm_names;
  bool norms_store_offset = false;  ///< files hold norms' weights less one
  bool norms_embedding = false;     ///< one more norm, without weights, behind the embedding
  bool parallel_sublayers = false;  ///< nn::DecoderLayer::parallel
  std::string left_alone;           ///< the beginning of names in files that transformers leaves alone too; "": none
  float embedding_dropout = 0, residual_dropout = 0;
  float feed_forward_dropout = 0;  ///< on its result, where residual_dropout is 0

  /// config.json keys of this family only.
  nlohmann::json own_keys = nlohmann::json::object();
  /// How config.json spells hidden_act and norm_eps; "": it has no norm_eps.
  std::string hidden_act_key = "hidden_act", norm_eps_key = "rms_norm_eps";

  std::int64_t d_head() const { return head_dim ? head_dim : hidden_size / num_attention_heads; }
  std::int64_t kv_heads() const { return num_key_value_heads ? num_key_value_heads : num_attention_heads; }
  /// Which rotary positions a layer has: nn::Attention::Options::rotary.
  std::int32_t rotary(std::int64_t layer) const {
    if (!rotated.empty() && !rotated[static_cast<std::size_t>(layer)]) return -1;
    return sliding_rope && window(layer) > 0 ? 1 : 0;
  }
  bool is_recurrent(std::int64_t layer) const {
    return !recurrent.empty() && recurrent[static_cast<std::size_t>(layer)];
  }
  std::int32_t window(std::int64_t layer) const {
    return windows.empty() ? 0 : windows[static_cast<std::size_t>(layer)];
  }
};

/// Reads the keys that all these families share. `defaults` holds the values of absent keys.
LlamaLikeConfig read_llama_like(ConfigReader& config, LlamaLikeConfig defaults);

/// The complete config.json of such a model.
nlohmann::ordered_json llama_like_json(const LlamaLikeConfig& k);

/// A key that this family has: k.own_keys has it as it was read.
bool read_own_bool(ConfigReader& config, LlamaLikeConfig& k, const std::string& key, bool otherwise);
/// Likewise a size from 1 to `most`.
std::int64_t read_own_size(ConfigReader& config, LlamaLikeConfig& k, const std::string& key, std::int64_t otherwise,
                           std::int64_t most);
/// Likewise a positive number.
double read_own_number(ConfigReader& config, LlamaLikeConfig& k, const std::string& key, double otherwise);
/// An RMSNorm of the queries and keys of each head.
nn::Attention::HeadNorms rms_head_norms(const LlamaLikeConfig& k);
/// Gemma's query_pre_attn_scalar: scores are divided by its square root.
void read_query_scale(ConfigReader& config, LlamaLikeConfig& k);
/// attention_bias of queries, keys, values and the result.
void read_attention_bias(ConfigReader& config, LlamaLikeConfig& k);
/// clip_qkv: none where it is null.
void read_clip(ConfigReader& config, LlamaLikeConfig& k);
/// Granite's embedding_multiplier, attention_multiplier, residual_multiplier, logits_scaling.
void read_multipliers(ConfigReader& config, LlamaLikeConfig& k);
/// How many experts there are, by the key that the family has for it, and how many a token goes to.
void read_experts(ConfigReader& config, LlamaLikeConfig& k, const std::string& count_key, std::int64_t count,
                  std::int64_t per_token);
/// Checks k.experts.count and per_token, and notes them in own_keys. @throws Error naming the key that is out of range
void set_experts(ConfigReader& config, LlamaLikeConfig& k, const std::string& count_key,
                 const std::string& per_token_key);
/// What read_deepseek_router() takes for absent keys.
struct DeepseekRouter {
  std::int64_t groups = 1, chosen_groups = 1, dense_layers = 1;
  double scale = 1;
};
/// DeepSeek's keys: n_shared_experts, first_k_dense_replace, n_group, topk_group, norm_topk_prob, routed_scaling_factor.
/// Scores are sigmoids with a correction [DeepSeek-V3, 2024, section 2.1.2].
void read_deepseek_router(ConfigReader& config, LlamaLikeConfig& k, const DeepseekRouter& otherwise = {});
/// Likewise the groups of experts alone, which the family may leave out.
void read_expert_groups(ConfigReader& config, LlamaLikeConfig& k, const DeepseekRouter& otherwise);
/// first_k_dense_replace, the number of first layers without experts.
void read_dense_layers(ConfigReader& config, LlamaLikeConfig& k, std::int64_t otherwise);
/// num_nextn_predict_layers: files may hold as many layers more, which predict further tokens and are left alone.
void read_further_layers(ConfigReader& config, LlamaLikeConfig& k);
/// Training's keys of routers: kept in own_keys. How much their balance weighs is an option of `tril train`.
void read_router_training(ConfigReader& config, LlamaLikeConfig& k, double aux_loss);
/// Qwen's keys: decoder_sparse_step and mlp_only_layers, which layers have experts.
void read_sparse_layers(ConfigReader& config, LlamaLikeConfig& k);

/// The sliding_window of all layers.
void read_common_window(ConfigReader& config, LlamaLikeConfig& k, std::int32_t otherwise);
/// `window` in the layers that layer_types says, or else in the layers i with slides(i). Sets windows, and in own_keys
/// sliding_window and layer_types.
void read_own_windows(ConfigReader& config, LlamaLikeConfig& k, std::int32_t window,
                      const std::function<bool(std::int64_t)>& slides);
/// Likewise the sliding_window, where (i + 1) % pattern != 0.
void read_window_pattern(ConfigReader& config, LlamaLikeConfig& k, std::int32_t otherwise, std::int64_t pattern);
/// The layers of the recurrent type `type` and not full_attention: by layer_types if present, else the layers i with
/// recurs(i). Sets recurrent, and layer_types in own_keys.
void read_recurrent_layers(ConfigReader& config, LlamaLikeConfig& k, const std::string& type,
                           const std::function<bool(std::int64_t)>& recurs);
/// A soft cap: 0 where the key is null.
float read_softcap(ConfigReader& config, LlamaLikeConfig& k, const std::string& key, double otherwise);

/// sliding_window: 0 where it is null.
std::int32_t read_window(ConfigReader& config, std::int32_t otherwise);
/// The same value for config.json.
nlohmann::json window_json(std::int32_t window);
/// The window of each layer, 0 for none: by layer_types if present, else `window` for the layers i with slides(i).
std::vector<std::int32_t> read_layer_windows(ConfigReader& config, std::int64_t layers, std::int32_t window,
                                             const std::function<bool(std::int64_t)>& slides);
/// "full_attention" or "sliding_attention" for each layer.
nlohmann::json layer_types_json(const std::vector<std::int32_t>& windows);
/// Reads Qwen's keys: use_sliding_window, sliding_window, and max_window_layers, below which no layer has a window.
/// Sets windows and own_keys.
void read_upper_windows(ConfigReader& config, LlamaLikeConfig& k);

}  // namespace tril::model
