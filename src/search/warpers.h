// What narrows a choice before it is drawn: each warper looks at the tokens that may still come and their logits, and
// scales the logits or strikes tokens out. They run in this order, which is that of `transformers`, after all penalties
// and constraints (processors.h); p is the softmax over what each one finds left:
//   temperature  logit / T
//   top-k        the k largest; what equals the k-th stays too
//   top-p        the smallest set of the most probable whose p sum to P or more [Holtzman et al. 2020]
//   min-p        those with p >= M max p [Nguyen et al. 2024]
//   typical-p    the smallest set of those whose -log p is nearest to the entropy, whose p sum to P or more
//                [Meister et al. 2023]
// At least one token stays.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/rng.h"
#include "search/plan.h"

namespace tril::search {

/// A token that may come next.
struct Choice {
  double logit = 0;
  std::int32_t token = 0;
};
using Choices = std::vector<Choice>;  ///< by token, ascending

void apply_temperature(Choices& choices, double temperature);
void keep_top_k(Choices& choices, std::int32_t k);
void keep_top_p(Choices& choices, double p);
void keep_min_p(Choices& choices, double p);
void keep_typical_p(Choices& choices, double p);

/// All that the options ask for, in the order above.
void warp(Choices& choices, const SamplingOptions& options);

/// The sums of the choices' probabilities up to each of them, times a constant.
std::vector<double> running_sums(std::span<const Choice> choices);
/// The choice whose stretch of [0, last sum) `uniform` times that sum falls into. @param uniform  in [0, 1)
std::int32_t draw(std::span<const Choice> choices, std::span<const double> sums, double uniform);

/// The number that decides the token at `position` (0: the first that is generated) of a request's sample: a function
/// of its arguments alone.
double sampling_number(std::uint64_t seed, std::uint64_t request, std::int32_t sample, std::int32_t position);

}  // namespace tril::search
