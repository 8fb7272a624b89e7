#include "nn/xielu.h"

#include <cmath>

#include "base/error.h"
#include "ops/xielu.h"

namespace tril::nn {
namespace {

constexpr double begin = 0.8, beta = 0.5, eps = -1e-6;  // begin: initial a_p and a_n [Huang & Schlag 2025, section 4]

// The inverse of softplus: files hold this value for a slope.
Init stored(double slope) {
  return {Init::Kind::constant, std::log(std::expm1(slope))};
}

Parameter& fixed(Parameters& p, const std::string& name, double value) {
  Parameter& w = p.add(name, Shape(), {Init::Kind::constant, value});
  w.trainable = false;
  return w;
}

}  // namespace

Xielu::Xielu(Parameters& p, const std::string& name)
    : above_(&p.add(name + ".alpha_p", {1}, stored(begin))),
      below_(&p.add(name + ".alpha_n", {1}, stored(begin - beta))),
      beta_(&fixed(p, name + ".beta", beta)),
      eps_(&fixed(p, name + ".eps", eps)) {}

Tensor Xielu::forward(Context& c, const Tensor& x) const {
  if (const float bound = host_copy<float>(eps_->value)[0]; !(bound <= 0 && bound > -1e-5f))
    fail(eps_->name, fmt::format("is {}, which is not supported", bound),
         fmt::format("supported: values near {}", eps));
  return ops::xielu(c, x, above_->value, below_->value, host_copy<float>(beta_->value)[0]);
}

}  // namespace tril::nn
