#include "nn/parallel_layer.h"

namespace tril::nn {

Tensor ParallelLayer::forward(Context& c, const Tensor& h, const LayerCall& call, std::int64_t layer,
                              const Attention::KeysValues&) const {
  const auto at = c.scope(name);
  const Tensor x = self_norm.forward(c, h);
  const Tensor attended = self_attention.self(c, x, *call.self, layer, {.residual = h, .dropout = dropout});
  return feed_forward.forward(c, feed_forward_norm ? feed_forward_norm->forward(c, h) : x,
                              {.residual = attended, .dropout = dropout});
}

}  // namespace tril::nn
