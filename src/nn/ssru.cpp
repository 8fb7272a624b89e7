#include "nn/ssru.h"

#include "ops/ssru.h"
#include "tensor/observer.h"

namespace tril::nn {

Ssru::Ssru(Parameters& p, const std::string& prefix, std::int64_t d_model, std::int64_t depth)
    : d_model_(d_model),
      name_(prefix.substr(prefix.rfind('.') + 1)),
      in_(p, prefix + ".in_proj", d_model, d_model, {.bias = false, .depth = depth}),
      forget_(p, prefix + ".forget_proj", d_model, d_model, {.depth = depth}) {}

Tensor Ssru::forward(Context& c, const Tensor& given, const SelfCall& call, std::int64_t layer) const {
  const auto at = c.scope(name_);
  const ObservedPart part(c, "self");
  Tensor x = given;
  observe(c, "input", x);
  check(call.mask().kind == kern::MaskKind::causal, name_, "a recurrence supports only the causal mask");
  if (call.mask().window > 0)
    fail_usage("attention window", "is not supported with a recurrence, which keeps no tokens", "leave it out");
  Tensor y = ops::ssru(c, in_.forward(c, x), forget_.forward(c, x), call.rows(), call.states(layer, name_));
  observe(c, "out", y);
  return y;
}

Tensor PostNormSsruLayer::forward(Context& c, Tensor h, const LayerCall& call, std::int64_t layer,
                                  const Attention::KeysValues& memory) const {
  const auto at = c.scope(name);
  h = ssru_norm.forward(c, ops::residual(c, h, ssru.forward(c, h, *call.self, layer), dropout));
  observe(c, "after_self", h);
  h = cross_norm.forward(
      c, cross_attention->cross(c, h, memory, {*call.cross, layer}, {.residual = h, .dropout = dropout}));
  observe(c, "after_cross", h);
  return feed_forward_norm.forward(c, feed_forward.forward(c, h, {.residual = h, .dropout = dropout}));
}

Tensor PreNormSsruLayer::forward(Context& c, Tensor h, const LayerCall& call, std::int64_t layer,
                                 const Attention::KeysValues& memory) const {
  const auto at = c.scope(name);
  h = ops::residual(c, h, ssru.forward(c, ssru_norm.forward(c, h), *call.self, layer), dropout);
  observe(c, "after_self", h);
  h = cross_attention->cross(c, cross_norm.forward(c, h), memory, {*call.cross, layer},
                             {.residual = h, .dropout = dropout});
  observe(c, "after_cross", h);
  return feed_forward.forward(c, feed_forward_norm.forward(c, h), {.residual = h, .dropout = dropout});
}

}  // namespace tril::nn
