// How probable a language model finds the tokens of a prompt, and what it would rather have read.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/spec/model.h"
#include "search/plan.h"

namespace tril::search {

/// Of each token but the first, given those before it; with the `top` likeliest at its place. The prompt must not be longer
/// than the model reads at once.
/// @param tokens  that there are: a model whose vocabulary is padded has columns for more, which are never told
std::vector<TokenScore> prompt_scores(Context& c, const model::Model& model, std::span<const std::int32_t> ids,
                                      std::int32_t top, std::int64_t tokens);

}  // namespace tril::search
