// expert_probabilities: p_t = P_te, P = softmax(l), e the expert of t      d l_ti = P_te ([i = e] - P_ti) dp_t
//   saves P. How experts were chosen has no gradient.                          [Fedus et al. 2022, eq. 1]
#include "ops/switch_experts.h"

#include <algorithm>
#include <cmath>

#include "ops/sizes.h"

namespace tril::ops {

Routing route_within_capacity(const Tensor& logits, const Rows& rows, std::int64_t capacity) {
  check(capacity >= 1, "route_within_capacity", "an expert takes {} tokens of a row, expected at least 1", capacity);
  Routing routing = route(logits, 1);
  check(rows.tokens() == routing.tokens, "route_within_capacity", "logits of {} tokens for rows of {}", routing.tokens,
        rows.tokens());
  for (std::vector<std::int32_t>& tokens : routing.choices) {
    std::int64_t row = 0, taken = 0;
    std::erase_if(tokens, [&](std::int32_t token) {
      for (; token >= rows.end(row); ++row) taken = 0;
      return ++taken > capacity;
    });
  }
  return routing;
}

Tensor expert_probabilities(Context& c, const Tensor& logits, const Routing& routing) {
  const auto [N, E] = logits.dims<2>("expert_probabilities: logits");
  check(routing.k == 1 && routing.tokens == N && static_cast<std::int64_t>(routing.choices.size()) == E,
        "expert_probabilities", "a routing of {} tokens to {} of {} experts for {}", routing.tokens, routing.k,
        routing.choices.size(), logits.shape());
  std::vector<float> P = host_copy<float>(logits), p(z(N));
  for (std::int64_t t = 0; t < N; ++t) {
    float* const row = P.data() + t * E;
    const float highest = *std::max_element(row, row + E);
    float sum = 0;
    for (std::int64_t e = 0; e < E; ++e) sum += row[e] = std::exp(row[e] - highest);
    for (std::int64_t e = 0; e < E; ++e) row[e] /= sum;
    p[z(t)] = row[routing.experts[z(t)]];
  }
  const Tensor y = c.upload<float>(p, {N, 1});
  if (c.tape())
    c.tape()->record("expert_probabilities", {&logits}, y,
                     [logits, experts = routing.experts, P = std::move(P)](Context& x, const Tensor& dy, Grads& d) {
                       const std::int64_t width = logits.size(1);
                       const std::vector<float> dp = host_copy<float>(dy);
                       std::vector<float> dl(P.size());
                       for (std::size_t t = 0; t < dp.size(); ++t) {
                         const std::size_t at = t * z(width), own = at + z(experts[t]);
                         for (std::size_t i = at; i < at + z(width); ++i)
                           dl[i] = P[own] * ((i == own ? 1.0f : 0.0f) - P[i]) * dp[t];
                       }
                       pass_on(x, x.upload<float>(dl, logits.shape()), d.into(x, logits));
                     });
  return y;
}

}  // namespace tril::ops
