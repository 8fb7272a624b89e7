#include "train/loss/batch_loss.h"

#include "base/as_size.h"
#include "ops/experts.h"
#include "train/loss/hidden_states.h"

namespace tril::train {
namespace {

// The batch, followed by a second copy of itself.
Batch doubled(const Batch& batch) {
  Batch both = batch;
  for (std::int64_t i = 0; i < batch.sentences(); ++i)
    both.append(batch.source_row(i), batch.target_row(i), batch.lines[as_size(i)]);
  both.alignments.insert(both.alignments.end(), batch.alignments.begin(), batch.alignments.end());
  return both;
}

// Only the loss of the targets.
Tensor target_loss(Context& c, const model::Model& m, const Batch& batch, const LossSettings& settings,
                   double normalizer, const Tensor& hidden) {
  const model::OutputProjection out = m.output();
  ops::LossOptions loss;
  loss.label_smoothing = static_cast<float>(settings.label_smoothing);
  loss.normalizer = normalizer;
  loss.softcap = out.softcap;
  if (!batch.weights.empty()) loss.weights = c.upload(batch.token_weights());
  const Tensor targets = c.upload(batch.target_ids);
  if (settings.teachers)
    return ops::projected_distillation(c, {{hidden, out.weight, out.bias}, settings.teachers->predict(c, batch)},
                                       targets, loss, settings.distillation);
  if (settings.r_drop > 0)
    return ops::r_drop(c, {hidden, out.weight, out.bias}, targets, loss, static_cast<float>(settings.r_drop));
  return ops::projected_cross_entropy(c, {hidden, out.weight, out.bias}, targets, loss);
}

}  // namespace

Tensor batch_loss(Context& c, const model::Model& m, const Batch& given, const LossSettings& settings,
                  double normalizer) {
  if (settings.heads)
    return heads_loss(c, m, *settings.heads, given, normalizer, static_cast<float>(settings.label_smoothing));
  const bool twice = settings.r_drop > 0, guided = settings.guided && !given.alignments.empty();
  const Batch both = twice ? doubled(given) : Batch();
  const Batch& batch = twice ? both : given;
  nn::AttentionTap tap;
  if (guided) tap = model::tap_of(m, settings.guided->heads);
  nn::RouterTap routers;
  const bool balanced = settings.router_aux_loss > 0;
  const Tensor hidden = hidden_states(c, m, batch, guided ? &tap : nullptr, balanced ? &routers : nullptr);
  Tensor loss = target_loss(c, m, given, settings, normalizer, hidden);
  if (balanced) {  // a mean over tokens: scaled to this batch's share of the update
    const double share = static_cast<double>(given.target_tokens()) / normalizer;
    const Tensor balance = ops::load_balancing_loss(c, routers.logits, m.experts_per_token());
    loss = ops::add(c, loss, ops::scale(c, balance, static_cast<float>(settings.router_aux_loss * share)));
  }
  if (!guided) return loss;
  const double passes = twice ? 2 : 1;
  return ops::add(c, loss,
                  ops::alignment_loss(c, tap.weights, c.upload(batch.wanted_attention()), tap.spans,
                                      {settings.guided->cost, normalizer * passes / settings.guided->weight}));
}

LossSettings LossSettings::of_update(std::int64_t number) const {
  LossSettings now = *this;
  if (number <= r_drop_start) now.r_drop = 0;
  return now;
}

}  // namespace tril::train
