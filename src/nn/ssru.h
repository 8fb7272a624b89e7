// The Simpler Simple Recurrent Unit in place of a decoder's self-attention, and the decoder layers with it, for fast
// translation models [Kim et al. 2019, "From Research to Production and Back"; Bogoychev et al. 2020].
#pragma once

#include <optional>
#include <string>

#include "nn/blocks.h"

namespace tril::nn {

/// c_t = s_t c_{t-1} + (1 - s_t) W x_t,  y_t = max(c_t, 0),  s_t = logistic(W_f x_t + b_f). A row's state is c [d_model].
class Ssru {
 public:
  Ssru() = default;
  /// Declares prefix.in_proj.weight, prefix.forget_proj.weight [d_model, d_model] and prefix.forget_proj.bias.
  /// @param depth  Linear::Options::depth of both
  Ssru(Parameters& p, const std::string& prefix, std::int64_t d_model, std::int64_t depth);

  KvCache::Layer kept() const { return {.state_size = d_model_}; }
  /// x [N, d_model] -> [N, d_model], at layer number `layer`. The call's mask must be causal, without a window.
  Tensor forward(Context& c, const Tensor& x, const SelfCall& call, std::int64_t layer) const;

 private:
  std::int64_t d_model_ = 0;
  std::string name_;
  Linear in_, forget_;
};

/// The parts of both kinds of layer.
struct SsruSublayers {
  std::string name;
  Ssru ssru;
  Norm ssru_norm;
  std::optional<Attention> cross_attention;  ///< always set
  Norm cross_norm;
  FeedForward feed_forward;
  Norm feed_forward_norm;
  float dropout = 0;  ///< on each sublayer's result, before it is added

  /// The cache layout that it needs.
  KvCache::Layer kept() const { return ssru.kept(); }
};

/// h = norm1(h + SSRU(h)),  h = norm2(h + CrossAttention(h, memory)),  h = norm3(h + FF(h))
struct PostNormSsruLayer : SsruSublayers {
  /// h [N, d_model]; memory: this layer's keys and values.
  Tensor forward(Context& c, Tensor h, const LayerCall& call, std::int64_t layer,
                 const Attention::KeysValues& memory) const;
};

/// h += SSRU(norm1(h)),  h += CrossAttention(norm2(h), memory),  h += FF(norm3(h))
struct PreNormSsruLayer : SsruSublayers {
  /// As PostNormSsruLayer::forward().
  Tensor forward(Context& c, Tensor h, const LayerCall& call, std::int64_t layer,
                 const Attention::KeysValues& memory) const;
};

}  // namespace tril::nn
