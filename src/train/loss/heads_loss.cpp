#include "train/loss/heads_loss.h"

#include <cmath>
#include <vector>

#include "base/as_size.h"
#include "train/loss/hidden_states.h"
#include "train/loss/serving_scope.h"

namespace tril::train {
namespace {

constexpr std::int32_t no_target = -1;

// For each position of the rows: the target `places` after its own.
std::vector<std::int32_t> later_targets(const Batch& batch, std::int64_t places) {
  std::vector<std::int32_t> later(batch.target_ids.size(), no_target);
  for (std::int64_t r = 0; r < batch.target.count(); ++r)
    for (std::int64_t t = batch.target.begin(r); t + places < batch.target.end(r); ++t)
      later[as_size(t)] = batch.target_ids[as_size(t + places)];
  return later;
}

Tensor states_of(Context& c, const model::Model& m, const Batch& batch) {
  const ServingScope frozen(c);
  return hidden_states(c, m, batch);
}

}  // namespace

Tensor heads_loss(Context& c, const model::Model& m, const TrainedHeads& trained, const Batch& batch, double normalizer,
                  float smoothing) {
  const nn::MedusaHeads& heads = trained.heads;
  const Tensor hidden = states_of(c, m, batch);
  const model::OutputProjection shared = m.output();
  double weights = 0;
  for (std::int64_t k = 0; k < heads.count(); ++k) weights += std::pow(trained.decay, k);
  ops::LossOptions options{.label_smoothing = smoothing, .ignore_id = no_target};
  if (!batch.weights.empty()) options.weights = c.upload(batch.token_weights());
  Tensor sum;
  for (std::int64_t k = 0; k < heads.count(); ++k) {
    options.normalizer = normalizer * weights / std::pow(trained.decay, k);
    const nn::Parameter* own = heads.output(k);
    options.softcap = own ? 0 : shared.softcap;
    const Tensor state = heads.state(c, hidden, k), targets = c.upload(later_targets(batch, k + 1));
    const ops::Projected logits =
        own ? ops::Projected{state, *own, Tensor()} : ops::Projected{state, shared.weight, shared.bias};
    const Tensor loss = ops::projected_cross_entropy(c, logits, targets, options);
    sum = sum ? ops::add(c, sum, loss) : loss;
  }
  return sum;
}

}  // namespace tril::train
