#include "nn/gated_feed_forward.h"

#include <array>

#include "ops/clamped_swiglu.h"
#include "ops/concat_columns.h"
#include "ops/gated_columns.h"

namespace tril::nn {

GatedFeedForward::GatedFeedForward(Parameters& p, const std::string& prefix, const Options& o)
    : name_(prefix.substr(prefix.rfind('.') + 1)),
      activation_(o.activation),
      clamp_(o.clamp),
      limit_(o.limit),
      dropout_(o.dropout) {
  check(!o.clamp || !o.gate_up.empty(), prefix, "a clamped gate needs gate and up as one matrix");
  check(o.limit == 0 || (!o.clamp && o.activation == ops::Activation::silu), prefix, "only SwiGLU has a limit");
  const auto make = [&](const std::string& name, std::int64_t in, std::int64_t out) {
    return Linear(p, prefix + "." + name, in, out, {.bias = o.bias});
  };
  if (!o.gate_up.empty()) {
    gate_up_ = make(o.gate_up, o.d_model, 2 * o.d_ff);
  } else {
    gate_ = make(o.gate, o.d_model, o.d_ff), up_ = make(o.up, o.d_model, o.d_ff);
    stack_ = p.stack({gate_.weight(), up_.weight()},
                     o.bias ? std::vector<Parameter*>{gate_.bias(), up_.bias()} : std::vector<Parameter*>{});
  }
  if (!o.inner_norm.empty()) inner_norm_ = Norm(p, prefix + "." + o.inner_norm, o.d_ff, o.norm_eps, Norm::Kind::rms);
  down_ = make(o.down, o.d_ff, o.d_model);
}

Tensor GatedFeedForward::forward(Context& c, const Tensor& x, const ops::LinearOptions& out) const {
  const auto at = c.scope(name_);
  const auto end = [&](const Tensor& h) {
    const Tensor inner = inner_norm_ ? inner_norm_->forward(c, h) : h;
    return down_.forward(c, ops::dropout(c, inner, dropout_), out);
  };
  const auto end_of = [&](const Tensor& both) {
    if (limit_ > 0) return end(ops::clamped_swiglu(c, both, limit_));
    return end(clamp_ ? ops::clamped_gate(c, both, *clamp_) : ops::gated_columns(c, activation_, both));
  };
  if (!stack_) return end_of(gate_up_.forward(c, x));
  if (!stack_->from.empty()) return end_of(nn::forward(c, x, *stack_, 0));
  const std::array parts{gate_.forward(c, x), up_.forward(c, x)};
  return limit_ > 0 ? end_of(ops::concat_columns(c, parts)) : end(ops::gated(c, activation_, parts[0], parts[1]));
}

}  // namespace tril::nn
