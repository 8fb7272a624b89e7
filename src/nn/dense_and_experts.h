// A feed-forward of every token beside a mixture of experts [Gemma team 2026, "Gemma 4"].
#pragma once

#include <string>

#include "nn/expert_feed_forward.h"

namespace tril::nn {

/// y = N2(FF(N1(h))) + N3(E(h)): FF is a gated feed-forward, E a mixture of experts with norms of its own
/// (ExpertFeedForward::Options::router_norm, experts_norm).
class DenseAndExperts {
 public:
  struct Options {
    GatedFeedForward::Options dense;
    ExpertFeedForward::Options experts;
    std::string dense_name = "mlp";
    std::string before_dense = "pre_feedforward_layernorm";
    std::string after_dense = "post_feedforward_layernorm_1", after_experts = "post_feedforward_layernorm_2";
    float norm_eps = 1e-6f;
  };
  DenseAndExperts() = default;
  /// Declares its weights under `prefix`, the name of the layer.
  DenseAndExperts(Parameters& p, const std::string& prefix, const Options& options);

  /// h [N, d_model] -> [N, d_model]. @param tap  null: not wanted
  Tensor forward(Context& c, const Tensor& h, const ops::LinearOptions& out = {}, RouterTap* tap = nullptr) const;

 private:
  Norm before_dense_, after_dense_, after_experts_;
  GatedFeedForward dense_;
  ExpertFeedForward experts_;
};

}  // namespace tril::nn
