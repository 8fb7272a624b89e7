#include "train/optim/adam.h"

#include <cmath>

namespace tril::train {
namespace {

class AdamRule : public UpdateRule {
 public:
  AdamRule(const std::vector<TrainedWeight>& weights, const OptimizerOptions& options)
      : weights_(weights), state_(as_in_block(weights), options, options.kind == OptimizerKind::adamw) {}

  bool takes_whole(std::size_t) const override { return false; }
  void step(const UpdateStep& u, const Stretch& s, float* w, float* g) override {
    state_.step(u, s, s.begin - weights_[s.weight].begin, w, g);
  }
  std::vector<NamedTensor> state() const override {
    std::vector<NamedTensor> list;
    state_.append_state(list);
    return list;
  }
  std::vector<StateSlice> state_of(const Stretch& s) const override {
    return state_.state_of(s, s.begin - weights_[s.weight].begin);
  }

 private:
  // Like the flat block from the first trained value to the last, including alignment gaps.
  static StatePlaces as_in_block(const std::vector<TrainedWeight>& weights) {
    StatePlaces places;
    for (const TrainedWeight& w : weights) {
      places.at.push_back(w.begin - weights.front().begin);
      places.total = (places.at.back() + w.count + 15) / 16 * 16;
    }
    return places;
  }

  std::vector<TrainedWeight> weights_;
  AdamState state_;
};

}  // namespace

AdamState::AdamState(StatePlaces places, const OptimizerOptions& options, bool decoupled_decay)
    : places_(std::move(places)), options_(options), decoupled_decay_(decoupled_decay) {
  m_ = places_.zeros();
  v_ = places_.zeros();
}

kern::Adam adam_step(const OptimizerOptions& options, const UpdateStep& u, bool decoupled_decay) {
  const double t = static_cast<double>(u.t);
  kern::Adam a;
  a.lr = static_cast<float>(u.rate);
  a.beta1 = static_cast<float>(options.beta1);
  a.beta2 = static_cast<float>(options.beta2);
  a.eps = static_cast<float>(options.epsilon);
  (decoupled_decay ? a.decoupled_decay : a.l2) = static_cast<float>(u.weight_decay);
  a.bias1 = static_cast<float>(1 - std::pow(options.beta1, t));
  a.bias2 = static_cast<float>(1 - std::pow(options.beta2, t));
  a.gradient_scale = static_cast<float>(u.gradient_scale);
  return a;
}

void AdamState::step(const UpdateStep& u, const Stretch& s, std::size_t offset, float* w, const float* g) {
  const std::size_t at = places_.at[s.weight] + offset;
  u.k.adam(adam_step(options_, u, decoupled_decay_), w, m_.data<float>() + at, v_.data<float>() + at, g, s.count);
}

void AdamState::append_state(std::vector<NamedTensor>& list) const {
  if (places_.total == 0) return;
  list.push_back({"moment1", m_});
  list.push_back({"moment2", v_});
}

std::vector<StateSlice> AdamState::state_of(const Stretch& s, std::size_t offset) const {
  const std::size_t at = places_.at[s.weight] + offset;
  return {{"moment1", at, s.count}, {"moment2", at, s.count}};
}

std::unique_ptr<UpdateRule> make_adam(const std::vector<TrainedWeight>& weights, const OptimizerOptions& options) {
  return std::make_unique<AdamRule>(weights, options);
}

}  // namespace tril::train
