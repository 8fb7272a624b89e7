// config.json of Llama and related families: sizes, the switches of the families (llama_like.h), and readers of keys that
// several families share.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/element.h"
#include "model/spec/config_reader.h"
#include "model/spec/rotary_config.h"
#include "nn/decoder_layer.h"

namespace tril::model {

/// The names of a layer's norms ("": there is none) and of the final norm.
struct NormNames {
  std::string before_attention = "input_layernorm", after_attention;
  std::string before_feed_forward = "post_attention_layernorm", after_feed_forward;
  std::string after_experts;  ///< in place of after_feed_forward in layers with experts; "": the same
  std::string last = "model.norm";
};
/// A norm after each sublayer instead of before it [OLMo 2, 2025].
NormNames post_norms();
/// A norm before and one after each sublayer [Gemma 2, 2024].
NormNames sandwich_norms();

/// Mixtures of experts in place of feed-forwards, and the family's names of their parts.
struct ExpertsConfig {
  std::int64_t count = 0, per_token = 0;  ///< 0: there are none
  std::int64_t d_ff = 0;                  ///< of each; 0: intermediate_size
  std::int64_t shared_d_ff = 0;           ///< of the shared expert; 0: there is none
  ops::RouterOptions routing;
  std::vector<bool> sparse;  ///< by layer: true if it has experts; empty: all have
  std::string block = "mlp", router = "gate", shared = "shared_experts";
  std::string correction, shared_gate;  ///< nn::ExpertFeedForward::Options
  std::string gate = "gate_proj", up = "up_proj", down = "down_proj";
  bool gated = true;  ///< nn::GatedFeedForward::Options::gates of the experts
  /// Tensors of the block that hold all experts, gate over up and down; "": each expert has its own.
  std::string fused_gate_up, fused_down;
  std::string fused_gate, fused_up;  ///< in place of fused_gate_up: tensors of all gates and of all ups
  struct FusedForm {
    bool transposed = false;   ///< each expert's part is [in, out]
    bool interleaved = false;  ///< rows of gate and up alternate
    std::string bias_suffix;   ///< a tensor's name plus this is the tensor of all experts' biases
  } fused_form;
  bool bias = false, router_bias = false;
  bool optional_correction = false;     ///< files may lack `correction`, which is then zero
  bool correction_is_row = false;       ///< nn::ExpertFeedForward::Options
  float router_softcap = 0;             ///< nn::ExpertFeedForward::Options
  bool beside_dense = false;            ///< nn::DenseAndExperts, under Gemma 4's names
  std::optional<ops::GateClamp> clamp;  ///< nn::GatedFeedForward::Options
  std::vector<float> limits;            ///< by layer: nn::GatedFeedForward::Options::limit; empty: no bounds
  float result_scale = 1;               ///< nn::ExpertFeedForward::Options
  std::string stored_correction;        ///< in files `correction` has this name in the layer; "": as in the block
  /// Tensors of the layer that hold the shared expert, gate over up and down; "": three tensors.
  std::string fused_shared_gate_up, fused_shared_down;
  std::string stored_shared;  ///< in files the shared expert has this name in the layer; "": as in the block
};

struct LlamaLikeConfig {
  std::string family, architecture;  ///< "llama", "LlamaForCausalLM"

  std::int64_t vocab_size = 32000, hidden_size = 4096, intermediate_size = 11008;
  std::int64_t num_hidden_layers = 32, num_attention_heads = 32;
  std::int64_t num_key_value_heads = 0;               ///< 0: num_attention_heads
  std::int64_t head_dim = 0;                          ///< 0: hidden_size / num_attention_heads
  bool reads_head_dim = true;                         ///< false: the key head_dim has no effect
  std::int64_t full_head_dim = 0, full_kv_heads = 0;  ///< in layers without a window; 0: the same as in the others
  std::vector<std::int64_t> heads;                    ///< by layer; empty: num_attention_heads in all
  std::vector<std::int64_t> intermediate_sizes;       ///< by layer; empty: intermediate_size in all
  std::int64_t max_position_embeddings = 2048;
  HiddenAct hidden_act = HiddenAct::silu;  ///< unless feed_forward is xielu
  double norm_eps = 1e-6, initializer_range = 0.02;
  double embedding_deviation = 0;  ///< standard deviation of a new embedding; 0: initializer_range
  bool tie_word_embeddings = false, output_bias = false;
  float attention_dropout = 0;
  std::int32_t bos_token_id = 1, eos_token_id = 2, pad_token_id = -1;
  nn::RotaryOptions rope;
  std::optional<nn::RotaryOptions> sliding_rope;  ///< of layers with a window; none: the same as the others
  /// Rotary positions of single layers in place of `rope`, and, by layer, their number, with 0 for `rope` and -1 for none;
  /// empty: as `rotated` and sliding_rope say.
  std::vector<nn::RotaryOptions> other_ropes;
  std::vector<std::int32_t> rope_of_layer;
  std::vector<bool> rotated;          ///< by layer: true if it rotates queries and keys; empty: all do
  RotaryDefaults rope_defaults = {};  ///< the family's rotary keys and their defaults
  bool rope_by_type = false;          ///< rope_parameters differ by layer type; the family's file reads them

  // The switches of the families.
  bool attention_bias = false, attention_out_bias = false, mlp_bias = false;
  /// One matrix holds queries, keys and values: all q, all k, all v; or, for one key head after
  /// the other, the queries that attend by it, its key and its value.
  enum class Fused : std::uint8_t { none, qkv, by_key_head } fused = Fused::none;
  std::string attention_name = "self_attn", qkv_name = "qkv_proj", out_name = "o_proj";
  std::string embedding_name = "model.embed_tokens", layers_name = "model.layers";
  bool result_gate = false;                                  ///< nn::Attention::Options::result_gate
  std::string attention_gate;                                ///< nn::Attention::Options::gate
  ops::Activation gate_function = ops::Activation::sigmoid;  ///< nn::Attention::Options::gate_function
  bool gates_values = false;                                 ///< nn::Attention::Options::gates_values
  float clip_qkv = 0;                                        ///< nn::Attention::Options::clip
  bool sink_logits = false;                                  ///< nn::Attention::Options::sink_logits
  std::string stored_sinks = "sinks";                        ///< their name in files
  std::string attention_result_norm;                         ///< nn::Attention::Options::result_norm
  std::vector<std::int32_t> windows;                         ///< by layer; 0: no window; empty: none in any layer
  nn::Attention::HeadNorms head_norms;                       ///< of queries and keys
  bool norms_values = false;                                 ///< nn::Attention::Options::norms_values
  std::vector<bool> keys_as_values;                          ///< by layer: true if its values are its keys; empty: none
  std::vector<std::int32_t> keys_of;   ///< by layer: nn::Attention::Options::keys_of; empty: -1 in all
  std::int64_t layer_input_size = 0;   ///< nn::LayerInputs::Options::size; 0: layers have no inputs of their own
  std::int64_t layer_input_vocab = 0;  ///< nn::LayerInputs::Options::vocab
  bool layer_factors = false;          ///< nn::DecoderLayer::factor, under the name layer_scalar
  float attention_scale = 0;           ///< of scores; 0: 1 / sqrt(head_dim)
  /// Latent attention in every layer, with head_dim rotated values in each head; none: ordinary attention.
  std::optional<nn::LatentAttention::Options> latent;
  float embedding_scale = 1, residual_scale = 1, logit_scale = 1;
  float attention_softcap = 0, logit_softcap = 0;  ///< of scaled scores and of logits; 0: none
  ExpertsConfig experts;
  /// gated: f(gate) * up; plain: f(up); xielu: f(up) with nn::Xielu.
  enum class FeedForward : std::uint8_t { gated, plain, xielu } feed_forward = FeedForward::gated;
  std::string gate_up_name;  ///< one matrix of gate and up; "": two
  std::string feed_forward_name = "mlp", gate_name = "gate_proj", up_name = "up_proj", down_name = "down_proj";
  std::string feed_forward_inner_norm;  ///< nn::GatedFeedForward::Options::inner_norm
  /// By layer: nn::GatedFeedForward::Options::limit of feed-forwards and shared experts; empty: no bounds.
  std::vector<float> feed_forward_limits;

  /// What replaces attention in some layers, its name in a layer, and, by layer, true if it is there; empty: in none.
  std::variant<nn::GatedShortConvolution::Options, nn::GatedDeltaNet::Options, nn::Mamba2::Options> recurrence;
  std::string recurrence_name;
  std::vector<bool> recurrent;
  /// Mamba-2 beside attention in every layer, and the factors of the results of both; `attention` is not read.
  std::optional<nn::AttentionAndMamba2::Options> beside_attention;
  /// By layer: which of the two sublayers it has; empty: both in all.
  enum class Sublayers : std::uint8_t { both, mixer, feed_forward };
  std::vector<Sublayers> sublayers;

  nn::Norm::Kind norm = nn::Norm::Kind::rms;  ///< of all norms except those of heads
  NormNames norm_names;
  bool norms_store_offset = false;      ///< files store norm weights minus one
  bool norms_embedding = false;         ///< a norm without weights after the embedding
  bool parallel_sublayers = false;      ///< nn::DecoderLayer::parallel
  std::vector<std::string> left_alone;  ///< tensors whose names begin with one of these are ignored, as by transformers
  float embedding_dropout = 0, residual_dropout = 0;
  float feed_forward_dropout = 0;                ///< on the feed-forward's result, if residual_dropout is 0
  float gate_scale = 1, feed_forward_scale = 1;  ///< nn::GatedFeedForward::Options::gate_scale, result_scale

  /// config.json keys of this family only.
  nlohmann::json own_keys = nlohmann::json::object();
  /// The family's keys for hidden_act and norm_eps; "": it has no norm_eps.
  std::string hidden_act_key = "hidden_act", norm_eps_key = "rms_norm_eps";

  std::int64_t d_head() const { return head_dim ? head_dim : hidden_size / num_attention_heads; }
  std::int64_t kv_heads() const { return num_key_value_heads ? num_key_value_heads : num_attention_heads; }
  std::int64_t d_head(std::int64_t layer) const {
    return full_head_dim && window(layer) == 0 ? full_head_dim : d_head();
  }
  std::int64_t kv_heads(std::int64_t layer) const {
    return full_kv_heads && window(layer) == 0 ? full_kv_heads : kv_heads();
  }
  std::int64_t query_heads(std::int64_t layer) const {
    return heads.empty() ? num_attention_heads : element(heads, layer);
  }
  std::int64_t d_ff(std::int64_t layer) const {
    return intermediate_sizes.empty() ? intermediate_size : element(intermediate_sizes, layer);
  }
  bool has_experts(std::int64_t layer) const {
    return experts.count > 0 && (experts.sparse.empty() || element(experts.sparse, layer));
  }
  bool reads_keys(std::int64_t layer) const { return !keys_of.empty() && element(keys_of, layer) >= 0; }
  /// True if a later layer reads the keys and values of this one.
  bool keys_are_read(std::int64_t layer) const { return std::ranges::find(keys_of, layer) != keys_of.end(); }
  /// The number of a layer's rotary positions: nn::Attention::Options::rotary.
  std::int32_t rotary(std::int64_t layer) const {
    if (!rope_of_layer.empty()) return element(rope_of_layer, layer);
    if (!rotated.empty() && !element(rotated, layer)) return -1;
    return sliding_rope && window(layer) > 0 ? 1 : 0;
  }
  bool has_mixer(std::int64_t layer) const {
    return sublayers.empty() || element(sublayers, layer) != Sublayers::feed_forward;
  }
  bool has_feed_forward(std::int64_t layer) const {
    return sublayers.empty() || element(sublayers, layer) != Sublayers::mixer;
  }
  bool is_recurrent(std::int64_t layer) const { return !recurrent.empty() && element(recurrent, layer); }
  std::int32_t window(std::int64_t layer) const { return windows.empty() ? 0 : element(windows, layer); }
};

/// Reads the keys that all these families share. `defaults` holds the values of absent keys.
LlamaLikeConfig read_llama_like(ConfigReader& config, LlamaLikeConfig defaults);

/// The complete config.json of such a model.
nlohmann::ordered_json llama_like_json(const LlamaLikeConfig& k);

/// The objects of per_layer_config by layer, each with some of `keys`. The names of layers are numbers that `transformers` pads
/// with zeros: "05" and "11".
std::map<std::int64_t, JsonObject> read_single_layers(const JsonObject& json, std::int64_t layers,
                                                      const std::vector<std::string>& keys);

/// Reads a key of this family only, and keeps its value in k.own_keys.
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
/// clip_qkv; null: no clipping.
void read_clip(ConfigReader& config, LlamaLikeConfig& k);
/// Granite's embedding_multiplier, attention_multiplier, residual_multiplier, logits_scaling.
void read_multipliers(ConfigReader& config, LlamaLikeConfig& k);
/// Reads the number of experts, under the family's key for it, and the number of experts per token.
void read_experts(ConfigReader& config, LlamaLikeConfig& k, const std::string& count_key, std::int64_t count,
                  std::int64_t per_token);
/// Checks k.experts.count and per_token, and keeps them in own_keys. @throws Error naming the key that is out of range
void set_experts(ConfigReader& config, LlamaLikeConfig& k, const std::string& count_key,
                 const std::string& per_token_key);
/// The values of absent keys in read_deepseek_router().
struct DeepseekRouter {
  std::int64_t groups = 1, chosen_groups = 1;
  double scale = 1;
  bool normalised = true;
};
/// DeepSeek's keys: n_shared_experts, n_group, topk_group, norm_topk_prob, routed_scaling_factor. Scores are sigmoids
/// with a correction [DeepSeek-V3, 2024, section 2.1.2].
void read_deepseek_router(ConfigReader& config, LlamaLikeConfig& k, const DeepseekRouter& otherwise = {});
/// Reads only the groups of experts.
void read_expert_groups(ConfigReader& config, LlamaLikeConfig& k, const DeepseekRouter& otherwise);
/// Reads the number of first layers without experts, under the family's key for it.
void read_dense_layers(ConfigReader& config, LlamaLikeConfig& k, std::int64_t otherwise,
                       const std::string& key = "first_k_dense_replace");
/// mlp_layer_types, "dense" or "sparse" for each layer. If it is absent, only the first layer is dense.
void read_mlp_layer_types(ConfigReader& config, LlamaLikeConfig& k);
/// num_nextn_predict_layers: the number of further layers in the files, which predict further tokens and are ignored.
void read_further_layers(ConfigReader& config, LlamaLikeConfig& k);
/// Keys of router training, which are only kept in own_keys: in tril the weight of the balance loss is an option of
/// `tril train`.
void read_router_training(ConfigReader& config, LlamaLikeConfig& k, double aux_loss);
/// Qwen's keys decoder_sparse_step and mlp_only_layers, which select the layers with experts.
/// @param dense  the value of mlp_only_layers if the file leaves it out
void read_sparse_layers(ConfigReader& config, LlamaLikeConfig& k, std::vector<std::int64_t> dense = {});

/// sliding_window, the same in all layers.
void read_common_window(ConfigReader& config, LlamaLikeConfig& k, std::int32_t otherwise);
/// Gives `window` to the sliding layers: those of layer_types or, if it is absent, the layers i with slides(i). Sets
/// windows, and sliding_window and layer_types in own_keys.
void read_own_windows(ConfigReader& config, LlamaLikeConfig& k, std::int32_t window,
                      const std::function<bool(std::int64_t)>& slides);
/// The same with the key sliding_window and slides(i) = ((i + 1) % pattern != 0).
void read_window_pattern(ConfigReader& config, LlamaLikeConfig& k, std::int32_t otherwise, std::int64_t pattern);
/// Selects the recurrent layers: those of type `type` in layer_types or, if it is absent, the layers i with recurs(i). All
/// others have full attention. Sets recurrent, and layer_types in own_keys.
void read_recurrent_layers(ConfigReader& config, LlamaLikeConfig& k, const std::string& type,
                           const std::function<bool(std::int64_t)>& recurs);
/// Selects the recurrent layers, of type `type`, and the sliding layers, with `window`: by layer_types or, if it is absent, by
/// type_of(i). All others have full attention. Sets recurrent and windows, and sliding_window and layer_types in own_keys.
void read_recurrent_and_windows(ConfigReader& config, LlamaLikeConfig& k, const std::string& type, std::int32_t window,
                                const std::function<std::string(std::int64_t)>& type_of);
/// A soft cap; null: 0, no cap.
float read_softcap(ConfigReader& config, LlamaLikeConfig& k, const std::string& key, double otherwise);

/// sliding_window; null: 0, no window.
std::int32_t read_window(ConfigReader& config, std::int32_t otherwise);
/// A window as config.json has it: null for 0.
nlohmann::json window_json(std::int32_t window);
/// The window of each layer; 0: none. Layers slide as layer_types says or, if it is absent, if slides(i).
std::vector<std::int32_t> read_layer_windows(ConfigReader& config, std::int64_t layers, std::int32_t window,
                                             const std::function<bool(std::int64_t)>& slides);
/// "full_attention" or "sliding_attention" for each layer.
nlohmann::json layer_types_json(const std::vector<std::int32_t>& windows);
/// Reads Qwen's keys: use_sliding_window, sliding_window, and max_window_layers, below which no layer has a window.
/// Sets windows and own_keys.
void read_upper_windows(ConfigReader& config, LlamaLikeConfig& k);

}  // namespace tril::model
