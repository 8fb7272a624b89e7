// config.json of t5, mt5, umt5 and switch_transformers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "format/json_file.h"
#include "model/spec/hidden_act.h"

namespace tril::model {

/// The properties of a family, independent of sizes, and the values of absent keys of its config.json.
struct T5Family {
  std::string_view name;          ///< model_type in config.json
  std::string_view architecture;  ///< the class of `transformers`
  std::int64_t vocab_size = 0, d_model = 0, d_ff = 0, num_layers = 0, num_heads = 0;
  HiddenAct dense_act_fn = HiddenAct::relu;
  bool is_gated_act = false;
  bool never_scales = false;         ///< outputs are not divided by sqrt(d_model), whatever config.json says
  bool bias_in_every_layer = false;  ///< of distances; else all layers share the first layer's
  bool has_experts = false;          ///< switch_config.h
};
/// @throws Error(usage) if there is none of this name
const T5Family& t5_family(std::string_view name);

/// Experts in place of some layers' feed-forwards [Switch Transformer, Fedus et al. 2022].
struct SwitchExperts {
  std::int64_t count = 0;                               ///< of each such layer; 0: no layer has experts
  std::int64_t capacity = 64;                           ///< the most tokens of a row that an expert accepts
  std::int64_t encoder_layers = 3, decoder_layers = 3;  ///< number of layers with experts, as configured
  std::int64_t encoder_step = 0, decoder_step = 0;      ///< in_layer()
  bool router_bias = false;
  double jitter_noise = 0.01, z_loss_coef = 0.001,
         aux_loss_coef = 0.001;  ///< for training in `transformers`; only kept

  /// True if layer i (from 0) has experts: every step-th, beginning with the second.
  bool in_layer(bool decoder, std::int64_t i) const;
};

struct T5Config {
  std::string family = "t5";  ///< of t5_family()
  std::int64_t vocab_size = 0;
  std::int64_t d_model = 512, d_kv = 64, d_ff = 2048;
  std::int64_t num_layers = 6, num_decoder_layers = 6, num_heads = 8;
  std::int64_t relative_attention_num_buckets = 32, relative_attention_max_distance = 128;
  float dropout_rate = 0.1f;  ///< of embeddings, attention weights, feed-forwards, sublayers and final norms
  double layer_norm_epsilon = 1e-6;
  double initializer_factor = 1;
  HiddenAct dense_act_fn = HiddenAct::relu;
  bool is_gated_act = false;          ///< the feed-forward is act(x W0) * (x W1)
  bool tie_word_embeddings = true;    ///< false: the output has a matrix of its own (lm_head.weight)
  bool share_embeddings = true;       ///< both sides have one table; false only in Switch Transformers' files
  bool scale_decoder_outputs = true;  ///< the last hidden states are divided by sqrt(d_model)
  SwitchExperts experts;
  std::int32_t pad_token_id = 0, eos_token_id = 1, bos_token_id = -1, decoder_start_token_id = 0;
  /// Dropout of embeddings, of attention weights and inside feed-forwards; -1: dropout_rate. Training only, not in
  /// config.json.
  float embedding_dropout = -1, attention_dropout = -1, activation_dropout = -1;

  /// Checks sizes and ids. @throws Error that names the wrong key
  void validate(std::string_view where) const;
};

/// Reads config.json as Hugging Face writes it, versions 4 and 5. @throws Error for an unsupported key that changes
/// results. @param output_matrix  true if the files have an output matrix, which config.json may get wrong;
/// nothing: there are no files
T5Config t5_config(const JsonObject& config, std::optional<bool> output_matrix = {});
/// The reverse.
std::string t5_config_json(const T5Config& config);

}  // namespace tril::model
