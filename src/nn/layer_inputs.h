// Embeddings of each layer: every layer reads a small vector of each token in addition to the stream of hidden states
// [Gemma team 2025, "Gemma 3n"; 2026, "Gemma 4"].
#pragma once

#include <span>
#include <string>

#include "nn/layers.h"

namespace tril::nn {

/// The inputs of all layers: p = (N(x W^T / sqrt(D)) + sqrt(d) table[ids]) / sqrt(2), with d values for each of L layers. N
/// normalises the values of each layer; x is the embedding of the tokens.
class LayerInputs {
 public:
  struct Options {
    std::int64_t vocab = 0, d_model = 0;  ///< rows of the table; D
    std::int64_t layers = 0, size = 0;    ///< L, d
    float norm_eps = 1e-6f;
    double deviation = 0.02;  ///< standard deviation of the table's normal initialisation
  };
  LayerInputs() = default;
  /// Declares prefix.embed_tokens_per_layer.weight [vocab, L d], prefix.per_layer_model_projection.weight [L d, D] and
  /// prefix.per_layer_projection_norm.weight [d].
  LayerInputs(Parameters& p, const std::string& prefix, const Options& options);

  /// ids [N], x [N, D] -> [N, L d]
  Tensor forward(Context& c, std::span<const std::int32_t> ids, const Tensor& x) const;

 private:
  Options o_;
  Embedding table_;
  Linear projection_;
  Norm norm_;
};

/// Adds the input of one layer to the stream: h + N((f(h G^T) * p) P^T).
class LayerInput {
 public:
  struct Options {
    std::int64_t d_model = 0, size = 0;
    ops::Activation activation = ops::Activation::gelu_tanh;
    float norm_eps = 1e-6f;
  };
  LayerInput() = default;
  /// Declares per_layer_input_gate.weight [d, D], per_layer_projection.weight [D, d] and post_per_layer_input_norm.weight [D]
  /// under `prefix`, the name of the layer.
  LayerInput(Parameters& p, const std::string& prefix, const Options& options);

  /// h [N, D], p [N, d] -> [N, D]
  Tensor forward(Context& c, const Tensor& h, const Tensor& p) const;

 private:
  Linear gate_, projection_;
  Norm norm_;
  ops::Activation activation_ = ops::Activation::gelu_tanh;
};

}  // namespace tril::nn
