// The learned activation of Apertus' feed-forward.
#pragma once

#include <string>

#include "nn/parameters.h"

namespace tril::nn {

/// ops::xielu() with its weights.
class Xielu {
 public:
  /// Declares name.alpha_p and name.alpha_n [1], and name.beta and name.eps [], which files also hold and which are not
  /// trained. `eps` bounds the argument of the exponential in other programs: exp(min(x, eps)) - 1 - x below zero. A value near
  /// zero changes nothing there, and forward() refuses any other.
  Xielu(Parameters& p, const std::string& name);

  Tensor forward(Context& c, const Tensor& x) const;

 private:
  Parameter *above_, *below_, *beta_, *eps_;
};

}  // namespace tril::nn
