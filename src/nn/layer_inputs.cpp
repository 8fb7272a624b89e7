#include "nn/layer_inputs.h"

#include <cmath>

#include "ops/dense.h"
#include "tensor/observer.h"

namespace tril::nn {

LayerInputs::LayerInputs(Parameters& p, const std::string& prefix, const Options& o) : o_(o) {
  const std::int64_t all = o.layers * o.size;
  table_ = Embedding(p, prefix + ".embed_tokens_per_layer.weight", o.vocab, all,
                     {.scale = std::sqrt(static_cast<float>(o.size)), .deviation = o.deviation});
  projection_ = Linear(p, prefix + ".per_layer_model_projection", o.d_model, all, {.bias = false});
  norm_ = Norm(p, prefix + ".per_layer_projection_norm", o.size, o.norm_eps, Norm::Kind::rms);
}

Tensor LayerInputs::forward(Context& c, std::span<const std::int32_t> ids, const Tensor& x) const {
  const ObservedPart part(c, "layer_inputs");
  const std::int64_t N = x.size(0), all = o_.layers * o_.size;
  const Tensor projected = ops::scale(c, projection_.forward(c, x), 1 / std::sqrt(static_cast<float>(o_.d_model)));
  const Tensor normed = norm_.forward(c, projected.reshape({N * o_.layers, o_.size})).reshape({N, all});
  return ops::scale(c, ops::add(c, normed, table_.forward(c, ids)), std::sqrt(0.5f));
}

LayerInput::LayerInput(Parameters& p, const std::string& prefix, const Options& o) : activation_(o.activation) {
  gate_ = Linear(p, prefix + ".per_layer_input_gate", o.d_model, o.size, {.bias = false});
  projection_ = Linear(p, prefix + ".per_layer_projection", o.size, o.d_model, {.bias = false});
  norm_ = Norm(p, prefix + ".post_per_layer_input_norm", o.d_model, o.norm_eps, Norm::Kind::rms);
}

Tensor LayerInput::forward(Context& c, const Tensor& h, const Tensor& p) const {
  const Tensor gated = ops::gated(c, activation_, gate_.forward(c, h), ops::dense(c, p));
  return ops::add(c, h, norm_.forward(c, projection_.forward(c, gated)));
}

}  // namespace tril::nn
