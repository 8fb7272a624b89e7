#include "train/optim/update_rule.h"

#include "base/as_size.h"

namespace tril::train {

std::vector<TrainedWeight> trained_weights(const nn::Parameters& parameters) {
  std::vector<TrainedWeight> list;
  for (const nn::Parameter& p : parameters.all())
    if (p.trainable) list.push_back({&p, as_size(parameters.offset_of(p)), as_size(p.shape.count())});
  return list;
}

Tensor StatePlaces::zeros(DType type) const {
  return lasting_zeros(static_cast<std::int64_t>(total), type);
}

StatePlaces state_places(const std::vector<TrainedWeight>& weights,
                         const std::function<std::size_t(const nn::Parameter&)>& values) {
  StatePlaces places;
  for (const TrainedWeight& w : weights) {
    places.at.push_back(places.total);
    places.total += values(*w.parameter);
  }
  return places;
}

std::unique_ptr<UpdateRule> make_rule(const std::vector<TrainedWeight>& weights, const OptimizerOptions& options) {
  switch (options.kind) {
    case OptimizerKind::lion:
      return make_lion(weights, options);
    case OptimizerKind::adafactor:
      return make_adafactor(weights, options);
    case OptimizerKind::muon:
      return make_muon(weights, options);
    case OptimizerKind::adam:
    case OptimizerKind::adamw:
      break;
  }
  return options.bits == StateBits::eight ? make_adam_8bit(weights, options) : make_adam(weights, options);
}

}  // namespace tril::train
