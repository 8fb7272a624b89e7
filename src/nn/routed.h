// The combined results of the experts to which tokens are routed.
#pragma once

#include <span>
#include <vector>

#include "base/as_size.h"
#include "nn/adapters.h"
#include "ops/experts.h"
#include "tensor/observer.h"

namespace tril::nn {

/// Shows the choice of a router: its logits [N, E], the chosen experts [N, k] and their weights [N, k].
inline void observe_routing(Context& c, const Tensor& logits, const ops::Routing& routing, Tensor& weights) {
  if (!c.observer()) return;
  if (Tensor shown = logits; observed(c, "router")) observe(c, "router", shown);
  if (observed(c, "chosen"))
    if (Tensor chosen = c.upload<std::int32_t>(routing.experts, {routing.tokens, routing.k}))
      observe(c, "chosen", chosen);
  observe(c, "expert_weights", weights);
}

/// y_t = sum over t's experts e of weights[t, e] FF_e(x_t): x [N, D], weights [N, k] -> [N, D]. Each expert computes
/// only the rows routed to it.
template <class FeedForward>
Tensor routed(Context& c, const Tensor& x, const ops::Routing& routing, const Tensor& weights,
              std::span<const FeedForward> experts) {
  std::vector<Tensor> results(experts.size());
  for (std::size_t e = 0; e < experts.size(); ++e) {
    if (routing.choices[e].empty()) continue;
    const auto tokens = routing.tokens_of(e);
    const Tensor own = ops::embedding(c, x, c.upload(tokens), /*scale=*/1.0f, /*padding_id=*/-1);
    std::vector<std::int32_t> adapters;  // of these rows
    if (const auto of_rows = c.adapters().of_rows; !of_rows.empty())
      for (const std::int32_t t : tokens) adapters.push_back(of_rows[as_size(t)]);
    const AdapterScope scope(c, {.of_rows = adapters, .of_all = c.adapters().of_all});
    const ObservedPart of_experts(c, "experts"), of_one(c, static_cast<std::int64_t>(e));
    results[e] = experts[e].forward(c, own);
  }
  return ops::combine_experts(c, results, weights, routing, x.size(1));
}

/// Adds dropout and residual to a sublayer's result y, if its last product has not.
inline Tensor added(Context& c, const Tensor& result, const ops::LinearOptions& out) {
  Tensor y = result;
  if (out.residual) observe(c, "out", y);
  return out.residual ? ops::residual(c, out.residual, y, out.dropout) : ops::dropout(c, y, out.dropout);
}

}  // namespace tril::nn
