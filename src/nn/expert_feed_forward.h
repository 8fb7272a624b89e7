// Mixture of experts: a feed-forward layer in which each token uses a few of many experts.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "nn/gated_feed_forward.h"
#include "ops/experts.h"

namespace tril::nn {

/// Receives the router logits of one call, layer by layer.
struct RouterTap {
  std::vector<Tensor> logits;  ///< [N, experts]
};

/// FF(x) = sum over the k experts e of the largest router scores of weight_e FF_e(x) [Shazeer et al. 2017; Jiang et al.
/// 2024, section 2.1], and, where there is a shared expert, FF_s(x) or sigmoid(x w^T) FF_s(x) beside them [Dai et al. 2024,
/// section 3.2; Qwen2-MoE, 2024]. The router stays in float32 in every precision: a rounded logit may choose another
/// expert.
class ExpertFeedForward {
 public:
  struct Options {
    std::int64_t num_experts = 0, experts_per_token = 0;
    ops::RouterOptions routing;
    GatedFeedForward::Options expert;
    std::int64_t shared_d_ff = 0;  ///< of the shared expert; 0: there is none
    bool shared_gate_up = false;   ///< its gate and up are one matrix, as those of the experts
    float shared_limit = 0;        ///< GatedFeedForward::Options::limit of the shared expert
    std::string router = "gate", experts = "experts", shared = "shared_experts";
    std::string correction;          ///< name of a vector that is added to the scores to choose experts; "": none
    bool correction_is_row = false;  ///< its shape is [1, num_experts] in place of [num_experts]
    std::string shared_gate;         ///< name of the shared expert's gate, a weight [1, d_model]; "": none
    bool router_bias = false;
    float router_softcap = 0;  ///< bounds the router's logits: ops::softcap(); 0: none
    /// Names of RMSNorms of x, for the router and for the experts; "": none. The router's is divided by sqrt(d_model) too.
    std::string router_norm, experts_norm;
    float result_scale = 1;     ///< factor of the sum of the experts' results and the shared expert's
    std::string expert_scales;  ///< name of a vector [num_experts] of factors of the experts' weights; "": none
    float norm_eps = 1e-6f;
    std::string scope;  ///< name of the scope; "": the last component of the prefix
  };
  ExpertFeedForward() = default;
  /// Declares the router and the experts under `prefix`.
  ExpertFeedForward(Parameters& p, const std::string& prefix, const Options& options);

  /// @param tap  null: not wanted
  Tensor forward(Context& c, const Tensor& x, const ops::LinearOptions& out = {}, RouterTap* tap = nullptr) const;

 private:
  Tensor router_logits(Context& c, const Tensor& x) const;
  Tensor shared(Context& c, const Tensor& x, const Tensor& routed) const;

  std::string name_;
  Linear router_;
  std::vector<GatedFeedForward> experts_;
  std::optional<GatedFeedForward> shared_;
  std::optional<Linear> shared_gate_;
  std::optional<Norm> router_norm_, experts_norm_;
  Parameter *correction_ = nullptr, *scales_ = nullptr;
  ops::RouterOptions routing_;
  std::int64_t experts_per_token_ = 0;
  float router_softcap_ = 0, result_scale_ = 1;
};

}  // namespace tril::nn
