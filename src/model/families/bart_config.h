// config.json of BART and related families (bart_variants.h), and of Marian.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "format/json_file.h"
#include "model/spec/dropout.h"
#include "model/spec/hidden_act.h"

namespace tril::model {

/// The properties of a family, independent of sizes.
struct BartFamily {
  std::string_view name;          ///< model_type in config.json, or architecture if `transformers` has no such model
  std::string_view architecture;  ///< the class of `transformers`; "": it has none
  bool pre_norm = false;  ///< a norm before each sublayer and after the last layer; else one after each sublayer
  enum class EmbeddingNorm : std::uint8_t {
    none,
    of_sums,           ///< over the sum of embeddings and positions
    of_decoder_words,  ///< encoder: the same; decoder: over its unscaled embeddings, before positions are added
  } embedding_norm = EmbeddingNorm::none;
  bool logits_bias = true;        ///< final_logits_bias, a number for each word
  bool two_vocabularies = false;  ///< the two sides may have different vocabularies although the output is tied
  enum class Positions : std::uint8_t {
    sinusoids,           ///< from 0, all sines before all cosines
    sinusoids_t2t,       ///< from 0, with Tensor2Tensor's frequencies
    sinusoids_from_pad,  ///< the same, from the padding id + 1
    learned,             ///< a table for each side
  } positions = Positions::sinusoids;
  std::int64_t rows_before_positions = 2;  ///< unused first rows of a learned table, once for padding ids
  float layer_norm_eps = 1e-5f;
  bool ssru = false;        ///< the decoder has an SSRU (nn/ssru.h) instead of self-attention; only in marian_nmt
  bool states_eps = false;  ///< config.json has layer_norm_eps
};

struct BartConfig {
  std::int64_t vocab_size = 0;          ///< of the source
  std::int64_t decoder_vocab_size = 0;  ///< of the target; equal if embeddings are shared
  std::int64_t d_model = 512;
  std::int64_t encoder_layers = 6, decoder_layers = 6;
  std::int64_t encoder_attention_heads = 8, decoder_attention_heads = 8;
  std::int64_t encoder_ffn_dim = 2048, decoder_ffn_dim = 2048;
  HiddenAct activation_function = HiddenAct::relu;
  bool scale_embedding = true;
  bool share_encoder_decoder_embeddings = true;  ///< false with a tied output: only in Marian's files
  bool tie_word_embeddings = true;               ///< false: the output has its own matrix (lm_head.weight)
  std::int64_t max_position_embeddings = 512;
  std::int32_t pad_token_id = 0, eos_token_id = 0, bos_token_id = -1, decoder_start_token_id = 0,
               forced_eos_token_id = -1;
  double init_std = 0.02;
  float dropout = 0.1f;  ///< of embeddings and of each sublayer's result
  float attention_dropout = 0, activation_dropout = 0;
  double encoder_layerdrop = 0, decoder_layerdrop = 0;  ///< probability that training skips a layer in an update
  float embedding_dropout = -1;    ///< of embeddings only; -1: as `dropout`. Training only, not in config.json
  bool depth_scaled_init = false;  ///< nn::Init::at_depth for each layer's matrices. Training only, not in config.json

  std::vector<Dropout> dropouts() const {
    return {{"dropout", dropout}, {"attention_dropout", attention_dropout}, {"activation_dropout", activation_dropout}};
  }
  /// Checks sizes and ids. @throws Error that names the wrong key
  void validate(std::string_view where) const;
};

/// Reads config.json as Hugging Face writes it, versions 4 and 5. @throws Error for an unsupported key that changes
/// results. @param otherwise  the values of absent keys; sizes only of families that `transformers` has, others must state them
BartConfig read_bart_config(const JsonObject& config, const BartFamily& family, const BartConfig& otherwise);
/// The reverse.
std::string bart_config_json(const BartConfig& config, const BartFamily& family);

}  // namespace tril::model
