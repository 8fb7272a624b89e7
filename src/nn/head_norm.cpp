#include "nn/head_norm.h"

#include "base/as_size.h"
#include "ops/concat_columns.h"
#include "ops/dense.h"
#include "ops/scale_columns.h"

namespace tril::nn {

HeadNorm::HeadNorm(Parameters& p, const std::string& name, Sizes sizes, const Options& o) : options_(o), sizes_(sizes) {
  const auto [heads, d] = sizes;
  switch (o.over) {
    case Over::none:
      break;
    case Over::head:
      norms_.emplace_back(p, name, d, o.eps, o.kind);
      break;
    case Over::own_weight:
      check(o.kind == Norm::Kind::layer_unbiased, name, "a weight for each head is supported for LayerNorm only");
      norms_.emplace_back(p, name, d, o.eps, Norm::Kind::layer_plain);
      weight_ = &p.add(name + ".weight", {heads, d}, Init::ones());
      break;
    case Over::own_tensor:
      for (std::int64_t h = 0; h < heads; ++h)
        norms_.emplace_back(p, fmt::format("{}.norms.{}", name, h), d, o.eps, o.kind);
      break;
    case Over::projection:
      norms_.emplace_back(p, name, heads * d, o.eps, o.kind);
      break;
  }
}

Tensor HeadNorm::forward(Context& c, const Tensor& x) const {
  const auto [heads, d] = sizes_;
  const std::int64_t N = x.size(0);
  if (options_.over == Over::none) return x;
  if (options_.over == Over::own_tensor) {
    std::vector<Tensor> parts;
    for (std::int64_t h = 0; h < heads; ++h)
      parts.push_back(norms_[as_size(h)].forward(c, ops::dense(c, x.columns(h * d, (h + 1) * d))));
    return ops::concat_columns(c, parts);
  }
  const Tensor y = ops::dense(c, x);
  if (options_.over == Over::projection) return norms_[0].forward(c, y);
  const Tensor by_head = norms_[0].forward(c, y.reshape({N * heads, d})).reshape({N, heads * d});
  return weight_ ? ops::scale_columns(c, by_head, weight_->value.reshape({heads * d})) : by_head;
}

}  // namespace tril::nn
