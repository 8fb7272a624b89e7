#include "model/spec/model.h"

#include "nn/adapters.h"
#include "ops/softcap.h"
#include "tensor/observer.h"

namespace tril::model {

Memory Model::encode(Context&, std::span<const std::int32_t>, const Rows&, const ops::Mask&) const {
  fail_usage(family(), "this family has no encoder", "use `tril generate` for language models");
}

nn::AttentionTap tap_of(const Model& m, const std::optional<nn::AttentionHeads>& heads) {
  const std::int64_t layers = m.cross_layers();
  if (layers == 0)
    fail_usage(m.family(), "this family has no cross-attention", "only translation models give alignments");
  if (!m.records_cross_attention())
    fail_usage(m.family(), "weights of cross-attention with a soft cap of scores are not recorded",
               "ask for no alignments");
  nn::AttentionTap tap;
  tap.of = heads.value_or(nn::AttentionHeads{});
  if (tap.of.layer < 0) tap.of.layer = layers - 1;
  if (tap.of.layer >= layers)
    fail_usage("alignment", fmt::format("there is no layer {}: the decoder has {} layers", tap.of.layer + 1, layers),
               "pass a layer number, counted from 1, or \"last\"");
  for (const std::int32_t h : tap.of.heads)
    check(h >= 0 && h < m.cross_heads(), "alignment", "there is no head {}: the layer has {} heads", h + 1,
          m.cross_heads());
  return tap;
}

OutputProjection output(const Context& c, const Model& m) {
  OutputProjection out = m.output();
  if (!out.matrix || !nn::is_adapted(c, *out.matrix)) return out;
  const nn::WeightChange* change = nn::change_of_all(c, *out.matrix);
  if (!change)
    fail_usage(out.matrix->name, "rows of one batch have different adapters, which change the output matrix",
               "use a search that reads whole logits, or one adapter");
  out.weight = change->whole, out.bias = change->offset;
  return out;
}

Tensor logits(Context& c, const Model& m, const Tensor& hidden, Capped capped) {
  const OutputProjection out = m.output();
  const Tensor y = ops::linear(c, hidden, out.weight, out.bias);
  computed_here(c);
  if (out.matrix && nn::is_adapted(c, *out.matrix)) nn::adapt(c, hidden, *out.matrix, y);
  return out.softcap > 0 && capped == Capped::yes ? ops::softcap(c, y, out.softcap) : y;
}

}  // namespace tril::model
