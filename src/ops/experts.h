// A mixture of experts: the choice of experts for each token, and the combination of their results [Shazeer et al.
// 2017, section 2; Mixtral: Jiang et al. 2024, section 2.1].
#pragma once

#include <span>
#include <vector>

#include "ops/ops.h"

namespace tril::ops {

/// The experts of each of N tokens. A token's j-th best expert is choice `token * k + j`.
struct Routing {
  std::int64_t tokens = 0, k = 0;
  std::vector<std::int32_t> experts;               ///< [N k] the expert of each choice
  std::vector<std::vector<std::int32_t>> choices;  ///< the choices of each expert, in token order

  /// The tokens of one expert, in order.
  std::vector<std::int32_t> tokens_of(std::size_t expert) const;
};

struct RouterOptions {
  enum class Score : std::uint8_t {
    softmax,       ///< p = softmax(logits) over all experts
    sigmoid,       ///< p = sigmoid(logits) [DeepSeek-V3, 2024, eq. 15]
    sparse_mixer,  ///< see sparse_mixer_weights() in sparse_mixer.h: nothing below but `jitter` applies
  } score = Score::softmax;
  float jitter = 0.01f;
  /// Experts are chosen by logit + correction in place of p + correction.
  bool chosen_by_logits = false;
  bool normalised = true;  ///< the weights of a token's experts are divided by their sum
  float scale = 1;         ///< of the weights
  /// The experts form this many groups. A token chooses from `chosen_groups` of them, those with the largest sums of their
  /// `best_of_group` best scores [DeepSeek-V3, 2024, section 2.1.2].
  std::int64_t groups = 1, chosen_groups = 1, best_of_group = 2;
};

/// The k experts of the largest p + correction (or logit + correction) for each token; ties: the smaller number.
/// logits [N, E], correction [E] or none
Routing route(const Tensor& logits, std::int64_t k, const RouterOptions& options = {}, const Tensor& correction = {});

/// scale p_e of each token's experts, divided by their sum or not -> [N, k]. softmax, divided, is the softmax over the
/// logits of these experts alone.
Tensor expert_weights(Context& c, const Tensor& logits, const Routing& routing, const RouterOptions& options = {});

/// y_t = sum over t's experts e of weights[t, e] results_e[t]: results[e] [tokens of e, D], weights [N, k] -> [N,
/// D]. An expert without tokens has no result.
Tensor combine_experts(Context& c, std::span<const Tensor> results, const Tensor& weights, const Routing& routing,
                       std::int64_t D);

/// E sum_e f_e p_e over all tokens of all routers -> [1]: f_e is the fraction of tokens sent to e, p_e the mean
/// softmax of e over all experts. It is k if all experts are used equally, and larger if the load is uneven [Switch
/// Transformer: Fedus et al. 2022, eq. 4-6]. logits: [N, E] of each router.
Tensor load_balancing_loss(Context& c, std::span<const Tensor> logits, std::int64_t k);

}  // namespace tril::ops
