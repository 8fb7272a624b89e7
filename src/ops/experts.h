// A mixture of experts: which tokens go to which expert, and how what these make of them becomes one result
// [Shazeer et al. 2017, section 2; Mixtral: Jiang et al. 2024, section 2.1].
#pragma once

#include <span>
#include <vector>

#include "ops/ops.h"

namespace tril::ops {

/// The experts that each of N tokens goes to. Its j-th best is choice `token * k + j`.
struct Routing {
  std::int64_t tokens = 0, k = 0;
  std::vector<std::int32_t> experts;               ///< [N k] of each choice
  std::vector<std::vector<std::int32_t>> choices;  ///< of each expert, in the order of tokens

  /// The tokens of one expert, in their order.
  std::vector<std::int32_t> tokens_of(std::size_t expert) const;
};

/// The k experts of the largest logits [N, E] for each token; of equals the one of the smaller number.
Routing route(const Tensor& logits, std::int64_t k);

/// softmax over the logits of each token's experts alone, best first -> [N, k]. It is also their softmax over all experts,
/// scaled to a sum of one.
Tensor expert_weights(Context& c, const Tensor& logits, const Routing& routing);

/// y_t = sum over t's experts e of weights[t, e] results_e[t]: results[e] [tokens of e, D], weights [N, k] -> [N, D].
/// An expert without tokens has no result.
Tensor combine_experts(Context& c, std::span<const Tensor> results, const Tensor& weights, const Routing& routing,
                       std::int64_t D);

/// E sum_e f_e p_e over all tokens of all routers: f_e how often a token went to e, p_e the mean of e's softmax over all
/// experts. It is k where all experts are alike, and more the fewer do the work -> [1]
/// [Switch Transformer: Fedus et al. 2022, eq. 4-6]. logits: of each router [N, E].
Tensor load_balancing_loss(Context& c, std::span<const Tensor> logits, std::int64_t k);

}  // namespace tril::ops
