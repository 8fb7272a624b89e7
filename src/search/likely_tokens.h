// The likeliest tokens of each row before any is forbidden, and which of them then are: what an observer sees of a distribution.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ops/ops.h"
#include "search/plan.h"
#include "search/step_logits.h"

namespace tril::search {

/// The n likeliest tokens of each row, [rows, n], best first.
/// @param logits    [rows, V]
/// @param log_sums  [rows], log(sum(exp(row))); empty: the logits are log-probabilities
/// @param columns   the ids of the logits' columns, ascending; empty: all ids
std::vector<LikelyToken> likely_tokens(Context& c, const Tensor& logits, std::span<const float> log_sums,
                                       std::int32_t n, std::span<const std::int32_t> columns);
/// Those of a projection, with log_sums.
std::vector<LikelyToken> likely_tokens(const ops::Best& best);

/// Marks the tokens whose logit is -inf now. @param tokens  [rows, n], from the same logits before
void mark_forbidden(const StepLogits& logits, std::span<LikelyToken> tokens);

}  // namespace tril::search
