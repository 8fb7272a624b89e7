#include "nn/layers.h"

#include <cmath>
#include <memory>

#include "base/as_size.h"
#include "nn/adapters.h"
#include "nn/lora.h"
#include "tensor/observer.h"

namespace tril::nn {
namespace {

// The value of a weight that a layer may lack. A reference: each copy of a tensor counts its references in memory, and many
// workers that counted those of the same weights would wait for each other.
const Tensor& value_of(const Parameter* weight, const Tensor& none) {
  return weight ? weight->value : none;
}

}  // namespace

Linear::Linear(Parameters& p, const std::string& name, std::int64_t in, std::int64_t out, const Options& options) {
  weight_ = &p.add(name + ".weight", {out, in}, Init::xavier(in, out).at_depth(options.depth));
  weight_->hidden_matrix = true;
  weight_->in_products = weight_->adaptable = true;
  if (options.bias) bias_ = &p.add(name + ".bias", {out}, Init::zeros());
}

Tensor Linear::forward(Context& c, const Tensor& x, const ops::LinearOptions& options) const {
  if (options.residual && observed(c, "out"))
    if (Tensor y = forward(c, x, {.activation = options.activation}); observe(c, "out", y))
      return ops::residual(c, options.residual, y, options.dropout);
  const Tensor none;
  const Tensor& bias = value_of(bias_, none);
  if (weight_->lora) return lora_linear(c, x, *weight_, bias, options);
  if (!is_adapted(c, *weight_)) return ops::linear(c, x, *weight_, bias, options);
  Tensor z = ops::linear(c, x, *weight_, bias);
  adapt(c, x, *weight_, z);
  if (options.activation != ops::Activation::none) z = ops::activate(c, options.activation, z);
  return options.residual ? ops::residual(c, options.residual, z, options.dropout)
                          : ops::dropout(c, z, options.dropout);
}

Tensor forward(Context& c, const Tensor& x, const Stack& stack, std::size_t first) {
  Tensor y = ops::linear(c, x, stack.from[first].weight, stack.from[first].bias);
  std::int64_t at = 0;
  for (std::size_t i = first; i < stack.weights.size(); ++i) {
    const Parameter& w = *stack.weights[i];
    if (is_adapted(c, w)) adapt(c, x, w, y.columns(at, at + w.shape[0]));
    at += w.shape[0];
  }
  return y;
}

Norm::Norm(Parameters& p, const std::string& name, std::int64_t d, float eps, Kind kind) : eps_(eps), kind_(kind) {
  if (kind == Kind::layer_plain || kind == Kind::rms_plain) {
    const auto values = std::make_shared<std::vector<float>>(as_size(d), 1.0f);
    ones_ = foreign_tensor(reinterpret_cast<std::byte*>(values->data()), {d}, DType::f32, values);
    return;
  }
  weight_ = &p.add(name + ".weight", {d}, Init::ones());
  if (kind == Kind::layer) bias_ = &p.add(name + ".bias", {d}, Init::zeros());
}

Tensor Norm::forward(Context& c, const Tensor& x) const {
  computed_here(c);
  const Tensor& weight = weight_ ? weight_->value : ones_;
  if (kind_ == Kind::rms || kind_ == Kind::rms_plain) return ops::rms_norm(c, x, weight, eps_);
  const Tensor none;
  return ops::layer_norm(c, x, weight, value_of(bias_, none), eps_);
}

Embedding::Embedding(Parameters& p, const std::string& name, std::int64_t vocab, std::int64_t d, Options options)
    : options_(options) {
  check(options.padding_id >= -1 && options.padding_id < vocab, name, "padding id {} is not in a vocabulary of {}",
        options.padding_id, vocab);
  table_ = &p.add(name, {vocab, d}, Init::normal(options.deviation));
  table_->zero_row = options.padding_id;
  table_->gathered = true;
}

Tensor Embedding::forward(Context& c, std::span<const std::int32_t> ids) const {
  const Tensor on_device = c.upload<std::int32_t>(ids, {std::ssize(ids)});
  Tensor y = table_->value ? ops::embedding(c, table_->value, on_device, options_.scale, options_.padding_id)
                           : ops::embedding(c, *table_, on_device, options_.scale);
  const WeightAdapters* adapters = table_->row_adapters.get();
  if (adapters && of_encoder_) adapters = adapters->of_encoder.get();
  if (is_adapted(c, adapters)) adapt_rows(c, ids, *adapters, options_.scale, y);
  observe(c, "embeddings", y);
  return y;
}

FeedForward::FeedForward(Parameters& p, const std::string& prefix, const Options& o)
    : first_(p, prefix + "." + o.first, o.d_model, o.d_ff, {.bias = o.bias, .depth = o.depth}),
      second_(p, prefix + "." + o.second, o.d_ff, o.d_model, {.bias = o.bias, .depth = o.depth}),
      activation_(o.activation),
      dropout_(o.dropout) {
  if (!o.xielu.empty()) xielu_.emplace(p, prefix + "." + o.xielu);
}

Tensor FeedForward::forward(Context& c, const Tensor& given, const ops::LinearOptions& out) const {
  const ObservedPart part(c, "feed_forward");
  Tensor x = given;
  observe(c, "input", x);
  Tensor h = first_.forward(c, x, {.activation = xielu_ ? ops::Activation::none : activation_});
  if (xielu_) h = xielu_->forward(c, h);
  observe(c, "inner", h);
  h = ops::dropout(c, h, dropout_);
  return second_.forward(c, h, out);
}

}  // namespace tril::nn
