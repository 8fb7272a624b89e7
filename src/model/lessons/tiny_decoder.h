// tiny_decoder: only the decoder. A stack of pre-norm layers with one fused q/k/v projection over vectors (no
// embedding, no final norm), with or without cross-attention to a context and with or without a causal mask. It is the
// smallest complete decoder.
#pragma once

#include "model/spec/stack.h"

namespace tril::model {

struct TinyDecoderConfig {
  std::int64_t d_model = 128, num_heads = 4, d_ff = 512, num_layers = 1;
  bool cross_attention = false;
  bool sinusoidal_positions = true;
  bool causal = true;  ///< false: each token sees all tokens, including those to predict
  float eps = 1e-5f;
};

class TinyDecoder {
 public:
  explicit TinyDecoder(const TinyDecoderConfig& config);

  /// x [N, d_model] in rows, context [S, d_model] in as many rows (if there is cross-attention) -> [N, d_model].
  Tensor forward(Context& c, const Tensor& x, const Rows& rows, const Memory* context = nullptr) const;

  nn::Parameters& parameters() { return parameters_; }

 private:
  TinyDecoderConfig config_;
  nn::Parameters parameters_;
  std::vector<nn::PreNormLayer> layers_;
  std::optional<nn::SinusoidalPositions> positions_;
};

}  // namespace tril::model
