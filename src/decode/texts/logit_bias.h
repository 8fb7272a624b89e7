// Logit biases of single tokens, as in OpenAI's API: from -100, which forbids a token, to 100, which practically forces it.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "search/plan.h"
#include "tokenizer/files/tokenizer.h"

namespace tril::search {

inline constexpr double most_bias = 100;

/// Adds `bias` to the token's bias. A bias of -most_bias or less forbids the token. Log-probabilities are computed from the
/// biased logits, in beam search too.
void add_bias(std::int32_t id, double bias, SearchPlan& options);

/// The same for each "TOKEN=BIAS". TOKEN is an id or a text. The text must be a single token at the beginning of a text or after
/// a space; if it is one in both places, both tokens get the bias.
/// @param where  the name of the option in errors
/// @throws Error(usage) if a pair is malformed, its text is not one token, or two pairs name the same token
void add_biases(std::span<const std::string> pairs, const Tokenizer& tokenizer, const std::string& where,
                SearchPlan& options);

}  // namespace tril::search
