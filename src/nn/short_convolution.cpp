#include "nn/short_convolution.h"

#include <cmath>

#include "ops/dense.h"
#include "ops/transpose.h"
#include "tensor/observer.h"

namespace tril::nn {

CausalConvolution::CausalConvolution(Parameters& p, const std::string& name, const Options& o) : o_(o) {
  const Init begin{Init::Kind::uniform, 1 / std::sqrt(static_cast<double>(o.taps))};  // one channel sees `taps` values
  weight_ = &p.add(name + ".weight", {o.width, 1, o.taps}, begin);
  if (o.bias) bias_ = &p.add(name + ".bias", {o.width}, Init::zeros());
}

Tensor CausalConvolution::forward(Context& c, const Tensor& x, const Rows& rows, const ops::States& states) const {
  const Tensor w = ops::transpose(c, weight_->value.reshape({o_.width, o_.taps}));
  return ops::short_convolution(c, x, {w, bias_ ? bias_->value : Tensor()}, rows, states);
}

GatedShortConvolution::GatedShortConvolution(Parameters& p, const std::string& prefix, const Options& o)
    : name_(prefix.substr(prefix.rfind('.') + 1)),
      d_model_(o.d_model),
      in_(p, prefix + "." + o.in, o.d_model, 3 * o.d_model, {.bias = o.bias}),
      out_(p, prefix + "." + o.out, o.d_model, o.d_model, {.bias = o.bias}),
      convolution_(p, prefix + "." + o.convolution, {.width = o.d_model, .taps = o.taps, .bias = o.bias}) {}

Tensor GatedShortConvolution::self(Context& c, const Tensor& given, const SelfCall& call, std::int64_t layer,
                                   const ops::LinearOptions& out) const {
  const auto at = c.scope(name_);
  const ObservedPart part(c, "self");
  Tensor x = given;
  observe(c, "input", x);
  const Tensor all = in_.forward(c, x);
  const auto columns = [&](std::int64_t i) { return ops::dense(c, all.columns(i * d_model_, (i + 1) * d_model_)); };
  const Tensor inputs = ops::gated(c, ops::Activation::none, columns(0), columns(2));
  const Tensor mixed = convolution_.forward(c, inputs, call.rows(), call.states(layer, name_));
  Tensor gated = ops::gated(c, ops::Activation::none, columns(1), mixed);
  observe(c, "mixed", gated);
  return out_.forward(c, gated, out);
}

}  // namespace tril::nn
