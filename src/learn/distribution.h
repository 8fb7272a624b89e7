// From logits to the distribution of the next token, by the engine's warpers.
#pragma once

#include <span>
#include <vector>

namespace tril::learn {

struct Sampling {
  double temperature = 1;
  int top_k = 0;     ///< 0: all
  double top_p = 1;  ///< 1: all
};

/// The probabilities; 0 of a token that was cut.
std::vector<double> distribution(std::span<const double> logits, const Sampling& s);

}  // namespace tril::learn
