// Adafactor: Adam's second moment, factored into a matrix's row and column means.  [Shazeer & Stern 2018, alg. 4 and 5]
//   b2_t = 1 - t^-0.8    s = g^2 + 1e-30
//   r = b2_t r + (1 - b2_t) rowmean(s)    c = b2_t c + (1 - b2_t) colmean(s)    V = r c^T / mean(r)
//   (a vector keeps V = b2_t V + (1 - b2_t) s itself)
//   u = g / sqrt(V)    u' = u / max(1, rms(u))    w = w - rho_t max(1e-3, rms(w)) u' - rho_t weight_decay w
// rho_t is the schedule's rate. It is relative to the weight's own size: 0.01 changes each weight by about a hundredth
// of itself; it should be several times Adam's. There is no first moment. A checkpoint keeps r ("row_average"), c
// ("column_average") and V of vectors ("second_moment"): rows + columns values, where Adam keeps 2 rows * columns. A
// step needs a whole weight, so each weight is assigned to one worker.
#include <cmath>

#include "base/as_size.h"
#include "train/optim/update_rule.h"

namespace tril::train {
namespace {

bool is_matrix(const nn::Parameter& p) {
  return p.shape.rank() == 2 && p.shape[0] > 1 && p.shape[1] > 1;
}

class AdafactorRule : public UpdateRule {
 public:
  explicit AdafactorRule(const std::vector<TrainedWeight>& weights) : weights_(weights) {
    rows_ = state_places(weights, [&](const nn::Parameter& p) { return is_matrix(p) ? as_size(p.shape[0]) : 0; });
    columns_ = state_places(weights, [&](const nn::Parameter& p) { return is_matrix(p) ? as_size(p.shape[1]) : 0; });
    vectors_ =
        state_places(weights, [&](const nn::Parameter& p) { return is_matrix(p) ? 0 : as_size(p.shape.count()); });
    row_ = rows_.zeros();
    column_ = columns_.zeros();
    vector_ = vectors_.zeros();
  }

  bool takes_whole(std::size_t) const override { return true; }

  void step(const UpdateStep& u, const Stretch& s, float* w, float* g) override {
    kern::Adafactor a;
    a.lr = static_cast<float>(u.rate);
    a.beta2 = static_cast<float>(1 - std::pow(static_cast<double>(u.t), -0.8));
    a.decay = static_cast<float>(u.weight_decay);
    a.gradient_scale = static_cast<float>(u.gradient_scale);
    const nn::Parameter& p = *weights_[s.weight].parameter;
    if (!is_matrix(p)) {
      u.k.adafactor_vector(a, w, vector_.data<float>() + vectors_.at[s.weight], g, s.count);
      return;
    }
    const auto rows = as_size(p.shape[0]), columns = as_size(p.shape[1]);
    std::vector<float> scratch(rows + columns);
    u.k.adafactor_matrix(a, w, row_.data<float>() + rows_.at[s.weight], column_.data<float>() + columns_.at[s.weight],
                         g, rows, columns, scratch.data());
  }

  std::vector<NamedTensor> state() const override {
    std::vector<NamedTensor> list;
    for (const NamedTensor& t :
         {NamedTensor{"row_average", row_}, {"column_average", column_}, {"second_moment", vector_}})
      if (t.value.count() > 0) list.push_back(t);
    return list;
  }

  std::vector<StateSlice> state_of(const Stretch& s) const override {
    const nn::Parameter& p = *weights_[s.weight].parameter;
    if (!is_matrix(p)) return {{"second_moment", vectors_.at[s.weight], s.count}};
    return {{"row_average", rows_.at[s.weight], as_size(p.shape[0])},
            {"column_average", columns_.at[s.weight], as_size(p.shape[1])}};
  }

 private:
  std::vector<TrainedWeight> weights_;
  StatePlaces rows_, columns_, vectors_;
  Tensor row_, column_, vector_;
};

}  // namespace

std::unique_ptr<UpdateRule> make_adafactor(const std::vector<TrainedWeight>& weights, const OptimizerOptions&) {
  return std::make_unique<AdafactorRule>(weights);
}

}  // namespace tril::train
