// What is added to the logits of single tokens, as OpenAI has it: from -100, which forbids, to 100, which all but forces.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "search/plan.h"
#include "tokenizer/files/tokenizer.h"

namespace tril::search {

inline constexpr double most_bias = 100;

/// Adds `bias` to what the token has; -most_bias and less: it never comes. Log-probabilities are those of the biased
/// logits, in a beam search too.
void add_bias(std::int32_t id, double bias, SearchPlan& options);

/// The same from each "TOKEN=BIAS". TOKEN is an id, or a text of one token: at the beginning of a word, after a space, or
/// both, which then both get it.
/// @param where  how errors call it
/// @throws Error(usage) where one is no such pair, its token is none, or two are of the same token
void add_biases(std::span<const std::string> pairs, const Tokenizer& tokenizer, const std::string& where,
                SearchPlan& options);

}  // namespace tril::search
