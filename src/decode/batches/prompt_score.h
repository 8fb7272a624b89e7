// The log-probabilities of a prompt's tokens under a language model, and the likeliest tokens at each position.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/spec/model.h"
#include "search/plan.h"

namespace tril::search {

/// Scores each token but the first, given those before it, and lists the `top` likeliest tokens at its position.
/// @param ids     not longer than the model's positions
/// @param tokens  the vocabulary size without padding; padded ids are never listed
std::vector<TokenScore> prompt_scores(Context& c, const model::Model& model, std::span<const std::int32_t> ids,
                                      std::int32_t top, std::int64_t tokens);

}  // namespace tril::search
