// The layers of an encoder and of a decoder, as the papers draw them. Pre-norm and post-norm are different blocks,
// not a flag within one. A layer with cross-attention belongs to a decoder; one without to an encoder or a
// decoder-only model, which differ in the mask.
#pragma once

#include <optional>
#include <string>

#include "nn/attention.h"
#include "nn/expert_feed_forward.h"
#include "nn/switch_feed_forward.h"

namespace tril::nn {

/// Shared by all layers of one call; `cross` only if the layers have cross-attention.
struct LayerCall {
  const SelfCall* self = nullptr;
  const CrossCall* cross = nullptr;
  RouterTap* routers = nullptr;  ///< receives the router logits of mixtures of experts; null: not recorded
  Tensor layer_input = {};       ///< this layer's part of LayerInputs (layer_inputs.h), if it has one
};

/// h = norm1(h + SelfAttention(h)),  h = norm2(h + CrossAttention(h, memory)),  h = norm3(h + FF(h))
/// [Vaswani et al. 2017, section 3.1]
struct PostNormLayer {
  std::string name;
  Attention self_attention;
  Norm self_norm;
  std::optional<Attention> cross_attention;
  Norm cross_norm;
  FeedForward feed_forward;
  Norm feed_forward_norm;
  float dropout = 0;  ///< on each sublayer's result, before it is added

  /// The cache layout that it needs.
  KvCache::Layer kept() const { return self_attention.kept(); }
  /// h [N, d_model]; memory: this layer's keys and values; none without cross-attention.
  Tensor forward(Context& c, Tensor h, const LayerCall& call, std::int64_t layer,
                 const Attention::KeysValues& memory = {}) const;
};

/// h += SelfAttention(norm1(h)),  h += CrossAttention(norm2(h), memory),  h += FF(norm3(h))
/// [Xiong et al. 2020, figure 1b]
template <class FF>
struct PreNorm {
  std::string name;
  Attention self_attention;
  Norm self_norm;
  std::optional<Attention> cross_attention;
  Norm cross_norm;
  FF feed_forward;
  Norm feed_forward_norm;
  float dropout = 0;
  std::optional<RelativeBias> bias;  ///< this layer's own; none: the call's

  /// The cache layout that it needs.
  KvCache::Layer kept() const { return self_attention.kept(); }
  Tensor forward(Context& c, Tensor h, const LayerCall& call, std::int64_t layer,
                 const Attention::KeysValues& memory = {}) const;
};
using PreNormLayer = PreNorm<FeedForward>;

}  // namespace tril::nn
