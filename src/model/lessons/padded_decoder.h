// padded_decoder: a post-norm decoder over rectangular batches [B, T] padded with a padding id, as decoders are
// often taught: embedding * sqrt(d) + sinusoids, masks made inside, the embedding's padding row zero. The memory
// that it attends to comes from outside. (A ragged batch needs none of this; see Rows.)
#pragma once

#include "format/json_file.h"
#include "model/spec/stack.h"

namespace tril::model {

struct PaddedDecoderConfig {
  std::int64_t vocab_size = 10000, d_model = 512, num_heads = 8, d_ff = 2048, num_layers = 6;
  std::int32_t pad_idx = 0;
  bool mask_target_padding = true;  ///< padding keys are masked too
  float eps = 1e-5f, dropout = 0;
};

class PaddedDecoder : public Model {
 public:
  explicit PaddedDecoder(const PaddedDecoderConfig& config);

  std::string family() const override { return "padded_decoder"; }
  std::string config_json() const override;
  std::int64_t vocab_size() const override { return config_.vocab_size; }
  std::int64_t d_model() const override { return config_.d_model; }
  std::int64_t max_positions() const override { return 0; }
  SpecialIds special_ids() const override { return {.pad = config_.pad_idx}; }
  std::vector<Dropout> dropouts() const override { return {{"dropout", config_.dropout}}; }
  bool has_encoder() const override { return false; }
  Tensor decode(Context& c, const DecoderInput& input) const override;
  OutputProjection output() const override { return OutputProjection::of(*output_.weight(), output_.bias()->value); }
  std::unique_ptr<nn::KvCache> make_cache(Context& c) const override { return cache_for(c, layers_); }

  /// Logits [B * T, V] of ids [B, T] with memory [B, S, d_model] given as [B * S, d_model]. The causal mask and
  /// the mask of padding keys are made here; memory_allow [B, 1, 1, S] (1 = may attend) is optional.
  Tensor forward(Context& c, std::span<const std::int32_t> ids, const Rows& rows, const Memory& memory,
                 const Tensor& memory_allow = {}) const;

 private:
  PaddedDecoderConfig config_;
  nn::Embedding embedding_;
  nn::SinusoidalPositions positions_;
  std::vector<nn::PostNormLayer> layers_;
  nn::Linear output_;
};

/// Makes the model from config.json; weights are neither allocated nor set.
std::unique_ptr<Model> make_padded_decoder(const JsonObject& config);

}  // namespace tril::model
