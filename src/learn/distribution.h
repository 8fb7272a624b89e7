// From logits to the distribution of the next token, by the engine's processors and warpers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tril::learn {

struct Sampling {
  double temperature = 1;
  int top_k = 0;     ///< 0: all
  double top_p = 1;  ///< 1: all
};

/// The logits after a repetition penalty on a token that was written before.
std::vector<double> penalised(std::span<const double> logits, std::int32_t written, double penalty);

/// The probabilities; 0 of a token that was cut.
std::vector<double> distribution(std::span<const double> logits, const Sampling& s);

}  // namespace tril::learn
