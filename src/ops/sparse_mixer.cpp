// sparse_mixer_weights: w_tj = P_tj[e_tj],  P_tj = softmax over the set S_tj of l_t,  e_tj the expert of choice j
//   S_t1: experts near the largest logit;  S_t2: those near the second largest but e_t1          [Liu et al. 2024, GRIN]
//   d l_te = sum over j with e in S_tj of dw_tj w_tj ([e = e_tj] - P_tj[e])         saves P of both choices
#include "ops/sparse_mixer.h"

#include <algorithm>
#include <cmath>

#include "ops/sizes.h"

namespace tril::ops {
namespace {

// P of one choice over all experts: zero outside its set. `without`: an expert that is not in it, or -1.
void probabilities(std::span<const float> logits, std::int32_t best, std::int32_t without, float jitter,
                   std::span<float> p) {
  const float most = logits[z(best)];
  float sum = 0;
  for (std::size_t e = 0; e < p.size(); ++e) {
    // 0 / 0 is NaN, the comparison is false, and the expert is near.
    const bool far = (most - logits[e]) / std::max(std::abs(logits[e]), most) > 2 * jitter;
    p[e] = far || static_cast<std::int32_t>(e) == without ? 0 : std::exp(logits[e] - most);
    sum += p[e];
  }
  for (float& v : p) v /= sum;
}

}  // namespace

Tensor sparse_mixer_weights(Context& c, const Tensor& logits, const Routing& routing, float jitter) {
  const auto [N, E] = logits.dims<2>("sparse_mixer_weights: logits");
  check(routing.k == 2 && routing.tokens == N, "sparse_mixer_weights", "a routing of {} tokens to {} experts for {}",
        routing.tokens, routing.k, logits.shape());
  check(jitter >= 0, "sparse_mixer_weights", "a jitter of {}", jitter);
  const std::vector<float> values = host_copy<float>(logits);
  std::vector<float> all(z(2 * N * E)), weights(z(2 * N));
  for (std::size_t choice = 0; choice < weights.size(); ++choice) {
    const std::size_t token = choice / 2;
    const std::span<float> p = std::span(all).subspan(choice * z(E), z(E));
    probabilities(std::span(values).subspan(token * z(E), z(E)), routing.experts[choice],
                  choice % 2 == 1 ? routing.experts[choice - 1] : -1, jitter, p);
    weights[choice] = p[z(routing.experts[choice])];
  }
  Tensor y = c.upload<float>(weights, {N, 2});
  if (c.tape())
    c.tape()->record("sparse_mixer_weights", {&logits}, y,
                     [logits, all, weights, experts = routing.experts](Context& x, const Tensor& dy, Grads& d) {
                       const std::size_t width = z(logits.size(1));
                       const std::vector<float> dw = host_copy<float>(dy);
                       std::vector<float> dl(z(logits.count()));
                       for (std::size_t choice = 0; choice < weights.size(); ++choice) {
                         const float g = dw[choice] * weights[choice];
                         float* const to = &dl[choice / 2 * width];
                         for (std::size_t e = 0; e < width; ++e) to[e] -= g * all[choice * width + e];
                         to[z(experts[choice])] += g;
                       }
                       pass_on(x, x.upload<float>(dl, logits.shape()), d.into(x, logits));
                     });
  return y;
}

}  // namespace tril::ops
