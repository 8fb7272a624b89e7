// gpt2: the decoder-only language model of Radford et al. 2019; `tril train --arch gpt2` trains it. Pre-norm, one fused
// q/k/v projection, learned positions, gelu in its tanh form, a final norm, and an output tied to the embedding.
// Weight names, config.json and defaults are those of Hugging Face (GPT2Config, GPT2LMHeadModel), whose Conv1D
// matrices are [in, out] in files.
#pragma once

#include "format/json_file.h"
#include "model/spec/hidden_act.h"
#include "model/spec/stack.h"

namespace tril::model {

struct Gpt2Config {
  std::int64_t vocab_size = 0;
  std::int64_t n_positions = 1024;  ///< context length: the most tokens of a row
  std::int64_t n_embd = 768, n_layer = 12, n_head = 12;
  std::int64_t n_inner = 0;  ///< width of the feed-forward; 0: 4 * n_embd
  HiddenAct activation_function = HiddenAct::gelu_new;
  float embd_pdrop = 0.1f;   ///< dropout of embeddings,
  float attn_pdrop = 0.1f;   ///< of attention weights,
  float resid_pdrop = 0.1f;  ///< and of each sublayer's result
  double layer_norm_epsilon = 1e-5;
  double initializer_range = 0.02;
  std::int32_t bos_token_id = -1, eos_token_id = -1, pad_token_id = -1;
  bool tie_word_embeddings = true;  ///< false: the output has its own matrix (lm_head.weight)

  std::vector<Dropout> dropouts() const {
    return {{"embd_pdrop", embd_pdrop}, {"attn_pdrop", attn_pdrop}, {"resid_pdrop", resid_pdrop}};
  }
  std::int64_t d_ff() const { return n_inner > 0 ? n_inner : 4 * n_embd; }
  /// Checks sizes and ids. @throws Error that names the wrong key
  void validate(std::string_view where) const;
};

/// Reads config.json as Hugging Face writes it. @throws Error for an unsupported key that changes results
Gpt2Config gpt2_config(const JsonObject& config);

class Gpt2 : public Model {
 public:
  explicit Gpt2(const Gpt2Config& config);

  const Gpt2Config& config() const { return config_; }
  std::string family() const override { return "gpt2"; }
  std::string config_json() const override;
  std::int64_t vocab_size() const override { return config_.vocab_size; }
  std::int64_t d_model() const override { return config_.n_embd; }
  std::int64_t max_positions() const override { return config_.n_positions; }
  SpecialIds special_ids() const override;
  std::vector<Dropout> dropouts() const override { return config_.dropouts(); }
  bool has_encoder() const override { return false; }
  StoredAs stored_as(const nn::Parameter& p) const override;
  Redundant redundant(std::string_view name) const override;
  Tensor decode(Context& c, const DecoderInput& input) const override;
  OutputProjection output() const override { return OutputProjection::of(*output_); }
  std::unique_ptr<nn::KvCache> make_cache(Context& c) const override { return cache_for(c, layers_); }

 private:
  void set_initial_values();

  Gpt2Config config_;
  nn::Embedding embedding_;
  nn::LearnedPositions positions_;
  std::vector<nn::PreNormLayer> layers_;
  nn::Norm final_norm_;
  nn::Parameter* output_ = nullptr;
};

/// Makes the model from config.json; weights are neither allocated nor set.
std::unique_ptr<Model> make_gpt2(const JsonObject& config);

}  // namespace tril::model
