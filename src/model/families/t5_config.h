// config.json of t5 and mt5.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "format/json_file.h"

namespace tril::model {

struct T5Config {
  std::string family = "t5";  ///< or "mt5"
  std::int64_t vocab_size = 0;
  std::int64_t d_model = 512, d_kv = 64, d_ff = 2048;
  std::int64_t num_layers = 6, num_decoder_layers = 6, num_heads = 8;
  std::int64_t relative_attention_num_buckets = 32, relative_attention_max_distance = 128;
  float dropout_rate = 0.1f;  ///< of embeddings, attention weights, feed-forwards, sublayers and final norms
  double layer_norm_epsilon = 1e-6;
  double initializer_factor = 1;
  std::string dense_act_fn = "relu";
  bool is_gated_act = false;          ///< the feed-forward is act(x W0) * (x W1)
  bool tie_word_embeddings = true;    ///< false: the output has its own matrix (lm_head.weight)
  bool scale_decoder_outputs = true;  ///< the last hidden states are divided by sqrt(d_model)
  std::int32_t pad_token_id = 0, eos_token_id = 1, bos_token_id = -1, decoder_start_token_id = 0;
  /// In place of dropout_rate for embeddings, for attention weights and within feed-forwards; -1: dropout_rate.
  /// Training only, not in config.json
  float embedding_dropout = -1, attention_dropout = -1, activation_dropout = -1;

  /// Checks sizes and ids. @throws Error that names the wrong key
  void validate(std::string_view where) const;
};

/// Reads config.json as Hugging Face writes it, versions 4 and 5. @throws Error for an unsupported key that changes
/// results. @param output_matrix  whether the files hold an output matrix, which config.json may get wrong;
/// nothing: there are no files
T5Config t5_config(const JsonObject& config, std::optional<bool> output_matrix = {});
/// The reverse.
std::string t5_config_json(const T5Config& config);

}  // namespace tril::model
