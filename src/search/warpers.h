// Logits warpers reshape the distribution before a token is sampled. Each scales the logits of the remaining tokens or
// removes tokens. They run in this order, which is that of `transformers`, after all logits processors (processors.h); p is
// the softmax over the tokens that remain at that point:
//   temperature  logit / T
//   top-k        keeps the k largest logits, and those equal to the k-th
//   top-p        keeps the smallest set of most probable tokens with a total p of at least P [Holtzman et al. 2020]
//   min-p        keeps the tokens with p >= M max p [Nguyen et al. 2024]
//   typical-p    keeps the smallest set of tokens with -log p nearest to the entropy and a total p of at least P
//                [Meister et al. 2023]
// At least one token remains.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/rng.h"
#include "search/plan.h"

namespace tril::search {

/// A possible next token.
struct Choice {
  double logit = 0;
  std::int32_t token = 0;
};
using Choices = std::vector<Choice>;  ///< sorted by token

void apply_temperature(Choices& choices, double temperature);
void keep_top_k(Choices& choices, std::int32_t k);
void keep_top_p(Choices& choices, double p);
void keep_min_p(Choices& choices, double p);
void keep_typical_p(Choices& choices, double p);

/// Applies the warpers of the options, in the order above.
void warp(Choices& choices, const SamplingOptions& options);

/// The cumulative sums of the choices' probabilities, times a constant.
std::vector<double> running_sums(std::span<const Choice> choices);
/// The token of the first choice whose cumulative sum exceeds `uniform` times the last sum.
/// @param uniform  in [0, 1)
std::int32_t draw(std::span<const Choice> choices, std::span<const double> sums, double uniform);

/// The random number in [0, 1) for the token at `position` (0: the first generated token) of a request's sample. It depends
/// only on the arguments.
double sampling_number(std::uint64_t seed, std::uint64_t request, std::int32_t sample, std::int32_t position);

}  // namespace tril::search
