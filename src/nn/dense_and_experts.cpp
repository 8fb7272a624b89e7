#include "nn/dense_and_experts.h"

#include "nn/routed.h"

namespace tril::nn {

DenseAndExperts::DenseAndExperts(Parameters& p, const std::string& prefix, const Options& o) {
  const auto norm = [&](const std::string& name) {
    return Norm(p, prefix + "." + name, o.dense.d_model, o.norm_eps, Norm::Kind::rms);
  };
  before_dense_ = norm(o.before_dense);
  dense_ = GatedFeedForward(p, prefix + "." + o.dense_name, o.dense);
  after_dense_ = norm(o.after_dense);
  ExpertFeedForward::Options experts = o.experts;
  experts.scope = experts.experts;  // the last component of the prefix is the layer's number
  experts_ = ExpertFeedForward(p, prefix, experts);
  after_experts_ = norm(o.after_experts);
}

Tensor DenseAndExperts::forward(Context& c, const Tensor& h, const ops::LinearOptions& out, RouterTap* tap) const {
  const Tensor dense = [&] {
    const ObservedPart part(c, "dense");
    return after_dense_.forward(c, dense_.forward(c, before_dense_.forward(c, h)));
  }();
  const Tensor routed = after_experts_.forward(c, experts_.forward(c, h, {}, tap));
  const ObservedPart part(c, "feed_forward");
  return added(c, ops::add(c, dense, routed), out);
}

}  // namespace tril::nn
