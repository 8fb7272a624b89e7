#include "nn/switch_feed_forward.h"

#include "nn/routed.h"
#include "ops/switch_experts.h"

namespace tril::nn {

SwitchFeedForward::SwitchFeedForward(Parameters& p, const std::string& prefix, const Options& o)
    : name_(prefix.substr(prefix.rfind('.') + 1)) {
  if (o.num_experts == 0) {
    experts_.emplace_back(p, prefix, o.expert);
    return;
  }
  check(o.capacity >= 1, prefix, "its experts take {} tokens of a row, expected at least 1", o.capacity);
  capacity_ = o.capacity;
  router_ = Linear(p, prefix + ".router.classifier", o.expert.d_model, o.num_experts, {.bias = o.router_bias});
  router_.weight()->in_products = false;
  for (std::int64_t e = 0; e < o.num_experts; ++e)
    experts_.emplace_back(p, fmt::format("{}.experts.expert_{}", prefix, e), o.expert);
}

Tensor SwitchFeedForward::forward(Context& c, const Tensor& given, const Rows& rows,
                                  const ops::LinearOptions& out) const {
  const auto at = c.scope(name_);
  if (capacity_ == 0) return experts_[0].forward(c, given, out);
  const ObservedPart part(c, "feed_forward");
  Tensor x = given;
  observe(c, "input", x);
  const Tensor logits = router_.forward(c, x);
  const ops::Routing routing = ops::route_within_capacity(logits, rows, capacity_);
  Tensor weights = ops::expert_weights(c, logits, routing, {.normalised = false});
  observe_routing(c, logits, routing, weights);
  return added(c, routed<FeedForward>(c, x, routing, weights, experts_), out);
}

}  // namespace tril::nn
