// Lion: every value changes by the learning rate, up or down.                                  [Chen et al. 2023, alg. 2]
//   c = b1 m + (1 - b1) g    w = w - lr (sign(c) + weight_decay w)    m = b2 m + (1 - b2) g
// Half of Adam's state. The authors advise a third to a tenth of AdamW's rate, three to ten times its decay, and b1 =
// 0.9, b2 = 0.99. A checkpoint keeps m ("momentum").
#include "base/as_size.h"
#include "train/optim/update_rule.h"

namespace tril::train {
namespace {

class LionRule : public UpdateRule {
 public:
  LionRule(const std::vector<TrainedWeight>& weights, const OptimizerOptions& options)
      : weights_(weights),
        places_(state_places(weights, [](const nn::Parameter& p) { return as_size(p.shape.count()); })),
        options_(options),
        m_(places_.zeros()) {}

  bool takes_whole(std::size_t) const override { return false; }
  void step(const UpdateStep& u, const Stretch& s, float* w, float* g) override {
    kern::Lion l;
    l.lr = static_cast<float>(u.rate);
    l.beta1 = static_cast<float>(options_.beta1);
    l.beta2 = static_cast<float>(options_.beta2);
    l.decay = static_cast<float>(u.weight_decay);
    l.gradient_scale = static_cast<float>(u.gradient_scale);
    u.k.lion(l, w, m_.data<float>() + place_of(s), g, s.count);
  }
  std::vector<NamedTensor> state() const override { return {{"momentum", m_}}; }
  std::vector<StateSlice> state_of(const Stretch& s) const override { return {{"momentum", place_of(s), s.count}}; }

 private:
  std::size_t place_of(const Stretch& s) const { return places_.at[s.weight] + s.begin - weights_[s.weight].begin; }

  std::vector<TrainedWeight> weights_;
  StatePlaces places_;
  OptimizerOptions options_;
  Tensor m_;
};

}  // namespace

std::unique_ptr<UpdateRule> make_lion(const std::vector<TrainedWeight>& weights, const OptimizerOptions& options) {
  return std::make_unique<LionRule>(weights, options);
}

}  // namespace tril::train
