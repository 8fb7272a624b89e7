#include "nn/blocks.h"

#include <type_traits>

#include "tensor/observer.h"

namespace tril::nn {

Tensor PostNormLayer::forward(Context& c, Tensor h, const LayerCall& call, std::int64_t layer,
                              const Attention::KeysValues& memory) const {
  const auto at = c.scope(name);
  h = self_norm.forward(c, self_attention.self(c, h, *call.self, layer, {.residual = h, .dropout = dropout}));
  observe(c, "after_self", h);
  if (cross_attention) {
    h = cross_norm.forward(
        c, cross_attention->cross(c, h, memory, {*call.cross, layer}, {.residual = h, .dropout = dropout}));
    observe(c, "after_cross", h);
  }
  return feed_forward_norm.forward(c, feed_forward.forward(c, h, {.residual = h, .dropout = dropout}));
}

template <class FF>
Tensor PreNorm<FF>::forward(Context& c, Tensor h, const LayerCall& call, std::int64_t layer,
                            const Attention::KeysValues& memory) const {
  const auto at = c.scope(name);
  const auto attend = [&](const SelfCall& self) {
    return self_attention.self(c, self_norm.forward(c, h), self, layer, {.residual = h, .dropout = dropout});
  };
  h = bias ? attend(call.self->with_bias(c, *bias)) : attend(*call.self);
  observe(c, "after_self", h);
  if (cross_attention) {
    h = cross_attention->cross(c, cross_norm.forward(c, h), memory, {*call.cross, layer},
                               {.residual = h, .dropout = dropout});
    observe(c, "after_cross", h);
  }
  const Tensor x = feed_forward_norm.forward(c, h);
  const ops::LinearOptions out{.residual = h, .dropout = dropout};
  if constexpr (std::is_same_v<FF, SwitchFeedForward>)
    return feed_forward.forward(c, x, call.self->rows(), out);
  else
    return feed_forward.forward(c, x, out);
}

template struct PreNorm<FeedForward>;
template struct PreNorm<GatedFeedForward>;
template struct PreNorm<SwitchFeedForward>;

}  // namespace tril::nn
