#include "nn/blocks.h"

namespace tril::nn {

Tensor PostNormLayer::forward(Context& c, Tensor h, const LayerCall& call, std::int64_t layer,
                              const Attention::KeysValues& memory) const {
  const auto at = c.scope(name);
  h = self_norm.forward(c, self_attention.self(c, h, *call.self, layer, {.residual = h, .dropout = dropout}));
  if (cross_attention)
    h = cross_norm.forward(
        c, cross_attention->cross(c, h, memory, *call.cross, layer, {.residual = h, .dropout = dropout}));
  return feed_forward_norm.forward(c, feed_forward.forward(c, h, {.residual = h, .dropout = dropout}));
}

template <class FF>
Tensor PreNorm<FF>::forward(Context& c, Tensor h, const LayerCall& call, std::int64_t layer,
                            const Attention::KeysValues& memory) const {
  const auto at = c.scope(name);
  h = self_attention.self(c, self_norm.forward(c, h), *call.self, layer, {.residual = h, .dropout = dropout});
  if (cross_attention)
    h = cross_attention->cross(c, cross_norm.forward(c, h), memory, *call.cross, layer,
                               {.residual = h, .dropout = dropout});
  return feed_forward.forward(c, feed_forward_norm.forward(c, h), {.residual = h, .dropout = dropout});
}

template struct PreNorm<FeedForward>;
template struct PreNorm<GatedFeedForward>;

}  // namespace tril::nn
