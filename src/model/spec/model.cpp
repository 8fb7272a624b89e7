#include "model/spec/model.h"

#include "ops/softcap.h"

namespace tril::model {

Memory Model::encode(Context&, std::span<const std::int32_t>, const Rows&, const ops::Mask&) const {
  fail_usage(family(), "this family has no encoder", "use `tril generate` for language models");
}

nn::AttentionTap tap_of(const Model& m, const std::optional<AlignmentHeads>& heads) {
  const std::int64_t layers = m.cross_layers();
  if (layers == 0)
    fail_usage(m.family(), "this family has no cross-attention", "alignments are for translation models");
  nn::AttentionTap tap;
  const AlignmentHeads chosen = heads.value_or(AlignmentHeads{});
  tap.layer = chosen.layer < 0 ? layers - 1 : chosen.layer;
  tap.heads = chosen.heads;
  if (tap.layer >= layers)
    fail_usage("alignment", fmt::format("layer {} of a decoder of {} layers", tap.layer + 1, layers),
               "name a layer from 1 on, or \"last\"");
  for (const std::int32_t h : tap.heads)
    check(h >= 0 && h < m.cross_heads(), "alignment", "head {} of {}", h + 1, m.cross_heads());
  return tap;
}

Tensor logits(Context& c, const Model& m, const Tensor& hidden) {
  const OutputProjection out = m.output();
  const Tensor y = ops::linear(c, hidden, out.weight, out.bias);
  return out.softcap > 0 ? ops::softcap(c, y, out.softcap) : y;
}

}  // namespace tril::model
