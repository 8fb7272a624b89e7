#include "nn/expert_feed_forward.h"

#include <cmath>

#include "nn/routed.h"
#include "ops/experts.h"
#include "ops/softcap.h"

namespace tril::nn {

ExpertFeedForward::ExpertFeedForward(Parameters& p, const std::string& prefix, const Options& o)
    : name_(o.scope.empty() ? prefix.substr(prefix.rfind('.') + 1) : o.scope),
      routing_(o.routing),
      experts_per_token_(o.experts_per_token),
      router_softcap_(o.router_softcap),
      result_scale_(o.result_scale) {
  check(o.experts_per_token >= 1 && o.experts_per_token <= o.num_experts, prefix,
        "cannot route a token to {} of {} experts", o.experts_per_token, o.num_experts);
  router_ = Linear(p, prefix + "." + o.router, o.expert.d_model, o.num_experts, {.bias = o.router_bias});
  router_.weight()->in_products = false;
  if (!o.correction.empty()) {
    const Shape shape = o.correction_is_row ? Shape{1, o.num_experts} : Shape{o.num_experts};
    correction_ = &p.add(prefix + "." + o.correction, shape, Init::zeros());
    correction_->trainable = false;
  }
  const auto norm = [&](const std::string& name) {
    return Norm(p, prefix + "." + name, o.expert.d_model, o.norm_eps, Norm::Kind::rms);
  };
  if (!o.router_norm.empty()) router_norm_ = norm(o.router_norm);
  if (!o.experts_norm.empty()) experts_norm_ = norm(o.experts_norm);
  if (!o.expert_scales.empty()) scales_ = &p.add(prefix + "." + o.expert_scales, {o.num_experts}, Init::ones());
  for (std::int64_t e = 0; e < o.num_experts; ++e)
    experts_.emplace_back(p, fmt::format("{}.{}.{}", prefix, o.experts, e), o.expert);
  if (o.shared_d_ff == 0) return;
  GatedFeedForward::Options shared = o.expert;
  shared.d_ff = o.shared_d_ff, shared.limit = o.shared_limit;
  if (!shared.clamp && !o.shared_gate_up) shared.gate_up.clear();  // files hold the experts' in one tensor, not its
  shared_.emplace(p, prefix + "." + o.shared, shared);
  if (o.shared_gate.empty()) return;
  shared_gate_.emplace(p, prefix + "." + o.shared_gate, o.expert.d_model, 1, Linear::Options{.bias = false});
  shared_gate_->weight()->in_products = false;
}

// Adds the shared expert's result for x to that of the chosen experts.
Tensor ExpertFeedForward::shared(Context& c, const Tensor& x, const Tensor& routed) const {
  const ObservedPart part(c, "shared");
  if (!shared_gate_) return shared_->forward(c, x, {.residual = routed});
  const Tensor open = shared_gate_->forward(c, x, {.activation = ops::Activation::sigmoid});
  const Tensor results[] = {shared_->forward(c, x)};
  ops::Routing all{.tokens = x.size(0), .k = 1, .experts = {}, .choices = {{}}};
  for (std::int32_t t = 0; t < x.size(0); ++t) all.experts.push_back(0), all.choices[0].push_back(t);
  return ops::add(c, routed, ops::combine_experts(c, results, open, all, x.size(1)));
}

Tensor ExpertFeedForward::router_logits(Context& c, const Tensor& x) const {
  Tensor of_router = x;
  if (router_norm_)
    of_router = ops::scale(c, router_norm_->forward(c, x), 1 / std::sqrt(static_cast<float>(x.size(1))));
  const Tensor logits = router_.forward(c, of_router);
  return router_softcap_ > 0 ? ops::softcap(c, logits, router_softcap_) : logits;
}

Tensor ExpertFeedForward::forward(Context& c, const Tensor& given, const ops::LinearOptions& out,
                                  RouterTap* tap) const {
  const auto at = c.scope(name_);
  const ObservedPart part(c, "feed_forward");
  Tensor x = given;
  observe(c, "input", x);
  const Tensor logits = router_logits(c, x);
  if (tap) tap->logits.push_back(logits);
  const ops::Routing routing = ops::route(logits, experts_per_token_, routing_,
                                          correction_ ? correction_->value.reshape({logits.size(1)}) : Tensor());
  Tensor weights = ops::expert_weights(c, logits, routing, routing_);
  if (scales_) {
    const Tensor scales = ops::embedding(c, scales_->value.reshape({scales_->value.count(), 1}),
                                         c.upload(routing.experts), /*scale=*/1.0f, /*padding_id=*/-1);
    weights = ops::gated(c, ops::Activation::none, weights, scales.reshape(weights.shape()));
  }
  observe_routing(c, logits, routing, weights);
  Tensor y = routed<GatedFeedForward>(c, experts_norm_ ? experts_norm_->forward(c, x) : x, routing, weights, experts_);
  if (shared_) y = shared(c, x, y);
  return added(c, result_scale_ == 1 ? y : ops::scale(c, y, result_scale_), out);
}

}  // namespace tril::nn
