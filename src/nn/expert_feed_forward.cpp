#include "nn/expert_feed_forward.h"

#include "ops/experts.h"

namespace tril::nn {

ExpertFeedForward::ExpertFeedForward(Parameters& p, const std::string& prefix, const Options& o)
    : name_(prefix.substr(prefix.rfind('.') + 1)), experts_per_token_(o.experts_per_token) {
  check(o.experts_per_token >= 1 && o.experts_per_token <= o.num_experts, prefix,
        "cannot route a token to {} of {} experts", o.experts_per_token, o.num_experts);
  router_ = Linear(p, prefix + "." + o.router, o.expert.d_model, o.num_experts, {.bias = false});
  router_.weight()->in_products = false;
  for (std::int64_t e = 0; e < o.num_experts; ++e)
    experts_.emplace_back(p, fmt::format("{}.{}.{}", prefix, o.experts, e), o.expert);
}

Tensor ExpertFeedForward::forward(Context& c, const Tensor& x, const ops::LinearOptions& out, RouterTap* tap) const {
  const auto at = c.scope(name_);
  const Tensor logits = router_.forward(c, x);
  if (tap) tap->logits.push_back(logits);
  const ops::Routing routing = ops::route(logits, experts_per_token_);
  const Tensor weights = ops::expert_weights(c, logits, routing);
  std::vector<Tensor> results(experts_.size());
  for (std::size_t e = 0; e < experts_.size(); ++e) {
    if (routing.choices[e].empty()) continue;
    const Tensor own = ops::embedding(c, x, c.upload(routing.tokens_of(e)), /*scale=*/1.0f, /*padding_id=*/-1);
    results[e] = experts_[e].forward(c, own);
  }
  const Tensor y = ops::combine_experts(c, results, weights, routing, x.size(1));
  return out.residual ? ops::residual(c, out.residual, y, out.dropout) : ops::dropout(c, y, out.dropout);
}

}  // namespace tril::nn
