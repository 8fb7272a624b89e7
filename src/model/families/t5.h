// t5 and its variants: encoder-decoders with RMS norms before the sublayers, projections without biases, and unscaled scores.
// Positions are a bias by distance, only in self-attention [Raffel et al. 2020; Xue et al. 2021].
// T5 v1.1 and mT5 have gated feed-forwards and an output matrix of their own; in umT5 each layer has a bias of its own
// [Chung et al. 2023]; in a Switch Transformer some layers have experts [Fedus et al. 2022]. Names, config.json and
// defaults as Hugging Face has them (T5Config, MT5Config, UMT5Config, SwitchTransformersConfig).
#pragma once

#include <string>
#include <vector>

#include "format/json_file.h"
#include "model/families/t5_config.h"
#include "model/spec/stack.h"
#include "model/spec/weight_names.h"

namespace tril::model {

/// The common parts of all variants: everything but the layers.
class T5 : public Model {
 public:
  const T5Config& config() const { return config_; }
  std::string family() const override { return config_.family; }
  std::string config_json() const override { return t5_config_json(config_); }
  std::int64_t vocab_size() const override { return config_.vocab_size; }
  std::int64_t d_model() const override { return config_.d_model; }
  std::int64_t max_positions() const override { return 0; }
  SpecialIds special_ids() const override;
  std::vector<Dropout> dropouts() const override { return {{"dropout_rate", config_.dropout_rate}}; }
  bool has_encoder() const override { return true; }
  std::int64_t cross_layers() const override { return config_.num_decoder_layers; }
  std::int64_t cross_heads() const override { return config_.num_heads; }
  StoredAs stored_as(const nn::Parameter& p) const override;
  Redundant redundant(std::string_view name) const override;
  OutputProjection output() const override { return OutputProjection::of(*output_); }

 protected:
  explicit T5(const T5Config& config);
  Tensor embed(Context& c, bool decoder, std::span<const std::int32_t> ids) const;
  void set_initial_values();

  T5Config config_;
  nn::RelativeBias encoder_bias_, decoder_bias_;  ///< of all layers, unless each has its own
  nn::Norm encoder_norm_, decoder_norm_;

 private:
  nn::Embedding encoder_embedding_, decoder_embedding_;
  nn::Parameter* output_ = nullptr;
};

/// Makes a T5 with the feed-forward that the config names.
std::unique_ptr<Model> make_t5(const T5Config& config);
/// Makes the model from config.json; weights are neither allocated nor set. The names of the weights show what config.json
/// does not tell: whether the output has its own matrix.
std::unique_ptr<Model> make_t5(const JsonObject& config, const WeightNames& weight_names);

}  // namespace tril::model
