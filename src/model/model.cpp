#include "model/model.h"

namespace tril::model {

Memory Model::encode(Context&, std::span<const std::int32_t>, const Rows&, const ops::Mask&) const {
  fail_usage(family(), "this family has no encoder", "use `tril generate` for language models");
}

Tensor logits(Context& c, const Model& m, const Tensor& hidden) {
  const OutputProjection out = m.output();
  return ops::linear(c, hidden, out.weight, out.bias);
}

}  // namespace tril::model
