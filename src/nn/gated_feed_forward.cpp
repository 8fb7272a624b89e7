#include "nn/gated_feed_forward.h"

#include <array>

#include "nn/routed.h"
#include "ops/clamped_swiglu.h"
#include "ops/concat_columns.h"
#include "ops/dense.h"
#include "ops/gated_columns.h"
#include "tensor/observer.h"

namespace tril::nn {

GatedFeedForward::GatedFeedForward(Parameters& p, const std::string& prefix, const Options& o)
    : name_(prefix.substr(prefix.rfind('.') + 1)),
      activation_(o.activation),
      clamp_(o.clamp),
      limit_(o.limit),
      dropout_(o.dropout),
      gate_scale_(o.gate_scale),
      result_scale_(o.result_scale),
      gates_(o.gates) {
  check(o.gates || (!o.clamp && o.limit == 0 && o.gate_up.empty()), prefix, "only a gate has bounds");
  check(o.gate_scale == 1 || (o.gates && !o.clamp && o.limit == 0 && o.gate_up.empty()), prefix,
        "a factor of the gate needs a matrix for the gate alone, without bounds");
  check(!o.clamp || !o.gate_up.empty(), prefix, "a clamped gate needs gate and up as one matrix");
  check(o.limit == 0 || (!o.clamp && o.activation == ops::Activation::silu), prefix, "only SwiGLU has a limit");
  const auto make = [&](const std::string& name, std::int64_t in, std::int64_t out) {
    return Linear(p, prefix + "." + name, in, out, {.bias = o.bias});
  };
  if (!o.gates) {
    up_ = make(o.up, o.d_model, o.d_ff);
  } else if (!o.gate_up.empty()) {
    gate_up_ = make(o.gate_up, o.d_model, 2 * o.d_ff);
  } else {
    gate_ = make(o.gate, o.d_model, o.d_ff), up_ = make(o.up, o.d_model, o.d_ff);
    stack_ = p.stack({gate_.weight(), up_.weight()},
                     o.bias ? std::vector<Parameter*>{gate_.bias(), up_.bias()} : std::vector<Parameter*>{});
  }
  if (!o.inner_norm.empty()) inner_norm_ = Norm(p, prefix + "." + o.inner_norm, o.d_ff, o.norm_eps, Norm::Kind::rms);
  down_ = make(o.down, o.d_ff, o.d_model);
}

Tensor GatedFeedForward::forward(Context& c, const Tensor& given, const ops::LinearOptions& out) const {
  const auto at = c.scope(name_);
  const ObservedPart part(c, "feed_forward");
  Tensor x = given;
  observe(c, "input", x);
  const auto end = [&](const Tensor& h) {
    Tensor inner = inner_norm_ ? inner_norm_->forward(c, h) : h;
    observe(c, "inner", inner);
    const Tensor last = ops::dropout(c, inner, dropout_);
    if (result_scale_ == 1) return down_.forward(c, last, out);
    return added(c, ops::scale(c, down_.forward(c, last), result_scale_), out);
  };
  if (!gates_) return end(up_.forward(c, x, {.activation = activation_}));
  const auto scaled_gate = [&](const Tensor& gate) {
    return gate_scale_ == 1 ? gate : ops::scale(c, ops::dense(c, gate), gate_scale_);
  };
  const auto end_of = [&](const Tensor& both) {
    if (const std::int64_t half = both.size(1) / 2; gate_scale_ != 1)
      return end(
          ops::gated(c, activation_, scaled_gate(both.columns(0, half)), ops::dense(c, both.columns(half, 2 * half))));
    if (limit_ > 0) return end(ops::clamped_swiglu(c, both, limit_));
    return end(clamp_ ? ops::clamped_gate(c, both, *clamp_) : ops::gated_columns(c, activation_, both));
  };
  if (!stack_) return end_of(gate_up_.forward(c, x));
  if (!stack_->from.empty()) return end_of(nn::forward(c, x, *stack_, 0));
  const std::array parts{gate_.forward(c, x), up_.forward(c, x)};
  return limit_ > 0 ? end_of(ops::concat_columns(c, parts))
                    : end(ops::gated(c, activation_, scaled_gate(parts[0]), parts[1]));
}

}  // namespace tril::nn
