// The feed-forward of the Switch Transformer: each token goes through one of many experts, if it has capacity left.
#pragma once

#include <string>
#include <vector>

#include "base/rows.h"
#include "nn/layers.h"

namespace tril::nn {

/// FF(x) = p_e FF_e(x), e the expert of the largest router logit and p_e its softmax over all experts
/// [Fedus et al. 2022, section 2.1]. Of the tokens of a row that one call computes, an expert takes the first `capacity`
/// that choose it; FF is 0 for the others, and the residual passes them on. So a row's result depends on no other row,
/// but a call with one token of a row always takes it. The router stays in float32 in every precision.
class SwitchFeedForward {
 public:
  struct Options {
    std::int64_t num_experts = 0;  ///< 0: one feed-forward for all tokens, without a router
    std::int64_t capacity = 0;
    bool router_bias = false;
    FeedForward::Options expert;
  };
  SwitchFeedForward() = default;
  /// Declares prefix.wi and prefix.wo, or prefix.router.classifier and prefix.experts.expert_N.wi and .wo, in the names
  /// of `expert`; the last component of `prefix` names the scope.
  SwitchFeedForward(Parameters& p, const std::string& prefix, const Options& options);

  /// x [N, d_model], the tokens of `rows`.
  Tensor forward(Context& c, const Tensor& x, const Rows& rows, const ops::LinearOptions& out = {}) const;

 private:
  std::string name_;
  Linear router_;
  std::vector<FeedForward> experts_;
  std::int64_t capacity_ = 0;  // 0: there is no router
};

}  // namespace tril::nn
