// learned_position_decoder: a post-norm decoder with learned positions, projections of q, k and v without bias, and
// masks given from outside. The encoder output that it attends to also comes from outside.
#pragma once

#include "format/json_file.h"
#include "model/spec/stack.h"

namespace tril::model {

struct LearnedPositionDecoderConfig {
  std::int64_t vocab_size = 0, d_model = 0, num_heads = 1, num_layers = 1, forward_expansion = 4, max_length = 0;
  float eps = 1e-5f, dropout = 0;
};

class LearnedPositionDecoder : public Model {
 public:
  explicit LearnedPositionDecoder(const LearnedPositionDecoderConfig& config);

  std::string family() const override { return "learned_position_decoder"; }
  std::string config_json() const override;
  std::int64_t vocab_size() const override { return config_.vocab_size; }
  std::int64_t d_model() const override { return config_.d_model; }
  std::int64_t max_positions() const override { return config_.max_length; }
  SpecialIds special_ids() const override { return {}; }
  std::vector<Dropout> dropouts() const override { return {{"dropout", config_.dropout}}; }
  bool has_encoder() const override { return false; }
  Tensor decode(Context& c, const DecoderInput& input) const override;
  OutputProjection output() const override { return OutputProjection::of(*output_.weight(), output_.bias()->value); }
  std::unique_ptr<nn::KvCache> make_cache(Context& c) const override { return cache_for(c, layers_); }

 private:
  LearnedPositionDecoderConfig config_;
  nn::Embedding embedding_;
  nn::LearnedPositions positions_;
  std::vector<nn::PostNormLayer> layers_;
  nn::Linear output_;
};

/// Makes the model from config.json; weights are neither allocated nor set.
std::unique_ptr<Model> make_learned_position_decoder(const JsonObject& config);

}  // namespace tril::model
