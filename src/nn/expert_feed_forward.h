// The feed-forward of which each token passes a few of many: a mixture of experts.
#pragma once

#include <vector>

#include "nn/gated_feed_forward.h"

namespace tril::nn {

/// What somebody wants to know of the routers of one call, which write it as they run, layer by layer.
struct RouterTap {
  std::vector<Tensor> logits;  ///< [N, experts]
};

/// FF(x) = sum over the k experts e of the largest router logits of weight_e FF_e(x), the weights being the softmax of
/// these k logits [Jiang et al. 2024, section 2.1]. An expert computes the rows that came to it and no others. The router
/// stays in float32, whatever precision products have: a rounded logit may choose another expert.
class ExpertFeedForward {
 public:
  struct Options {
    std::int64_t num_experts = 0, experts_per_token = 0;
    GatedFeedForward::Options expert;
    std::string router = "gate", experts = "experts";
  };
  ExpertFeedForward() = default;
  /// Declares the router and the experts under `prefix`; its last component names the scope.
  ExpertFeedForward(Parameters& p, const std::string& prefix, const Options& options);

  /// @param tap  null: nobody asks
  Tensor forward(Context& c, const Tensor& x, const ops::LinearOptions& out = {}, RouterTap* tap = nullptr) const;

 private:
  std::string name_;
  Linear router_;
  std::vector<GatedFeedForward> experts_;
  std::int64_t experts_per_token_ = 0;
};

}  // namespace tril::nn
