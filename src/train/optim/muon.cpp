// Muon: steps a hidden matrix by the nearest orthogonal matrix to its momentum.                    [Jordan et al. 2024]
//   m = mu m + (1 - mu) g    d = mu m + (1 - mu) g (Nesterov's)    o = newton_schulz(d) ~ U V^T where d = U S V^T
//   w = w - lr 0.2 sqrt(max(rows, columns)) o - lr weight_decay w
// The factor matches o's root mean square to Adam's steps, so that one rate suits both [Liu et al. 2025, eq. 4].
// newton_schulz: X = d / |d|, then five times A = X X^T, X = a X + (b A + c A^2) X with (a, b, c) = (3.4445, -4.7750,
// 2.0315), on the transpose if there are more rows than columns; all in float32.
//
// Hidden matrices are those of linear layers between hidden states; AdamW (adam.h) steps embeddings, output, norms and
// biases, with the same rate and decay. A checkpoint keeps m ("momentum") and AdamW's state. Each matrix is stepped by
// one worker with one thread, so the result does not depend on the number of workers.
#include <algorithm>
#include <cmath>

#include "base/as_size.h"
#include "kern/gemm.h"
#include "train/optim/adam.h"

namespace tril::train {
namespace {

constexpr float ns_a = 3.4445f, ns_b = -4.7750f, ns_c = 2.0315f;
constexpr int ns_steps = 5;

// x [rows, columns], rows <= columns, becomes nearly orthogonal; scratch holds rows * (2 rows + columns) floats.
void newton_schulz(const kern::Kernels& k, float* x, std::size_t rows, std::size_t columns, float* scratch) {
  const std::size_t n = rows * columns, square = rows * rows;
  float* const a = scratch;           // X X^T
  float* const b = a + square;        // b A + c A^2
  float* const product = b + square;  // B X
  const auto norm = static_cast<float>(std::sqrt(k.sum_squares(x, n)));
  k.scale(1 / std::max(norm, 1e-7f), x, x, n);
  const auto multiply = [&](const float* left, const float* right, float* out, std::size_t width, bool transposed) {
    k.gemm({.m = rows,
            .n = width,
            .k = transposed ? columns : rows,
            .a = left,
            .a_stride = transposed ? columns : rows,
            .b = right,
            .b_stride = transposed ? columns : width,
            .c = out,
            .c_stride = width,
            .transpose_b = transposed});
  };
  for (int i = 0; i < ns_steps; ++i) {
    multiply(x, x, a, rows, true);
    multiply(a, a, b, rows, false);
    k.scale(ns_c, b, b, square);
    k.axpy(ns_b, a, b, square);
    multiply(b, x, product, columns, false);
    k.axpy(ns_a, x, product, n);
    k.scale(1, product, x, n);
  }
}

class MuonRule : public UpdateRule {
 public:
  MuonRule(const std::vector<TrainedWeight>& weights, const OptimizerOptions& options)
      : weights_(weights),
        options_(options),
        places_(state_places(weights, [](const nn::Parameter& p) { return p.hidden_matrix ? size_of(p) : 0; })),
        adam_(state_places(weights, [](const nn::Parameter& p) { return p.hidden_matrix ? 0 : size_of(p); }), options,
              true),
        m_(places_.zeros()) {}

  bool takes_whole(std::size_t weight) const override { return weights_[weight].parameter->hidden_matrix; }

  void step(const UpdateStep& u, const Stretch& s, float* w, float* g) override {
    const nn::Parameter& p = *weights_[s.weight].parameter;
    if (!p.hidden_matrix) {
      adam_.step(u, s, s.begin - weights_[s.weight].begin, w, g);
      return;
    }
    const kern::Kernels& k = u.k;
    const auto mu = static_cast<float>(options_.momentum), rest = 1 - mu, scale = static_cast<float>(u.gradient_scale);
    float* const m = m_.data<float>() + places_.at[s.weight];
    k.scale(mu, m, m, s.count);
    k.axpy(rest * scale, g, m, s.count);
    k.scale(rest * scale, g, g, s.count);
    k.axpy(mu, m, g, s.count);

    const auto rows = as_size(p.shape[0]), columns = as_size(p.shape[1]);
    const std::size_t small = std::min(rows, columns), large = std::max(rows, columns);
    std::vector<float> scratch(small * (2 * small + large) + (rows > columns ? s.count : 0));
    if (rows > columns) {
      float* const turned = scratch.data() + small * (2 * small + large);
      k.transpose(g, turned, rows, columns);
      newton_schulz(k, turned, columns, rows, scratch.data());
      k.transpose(turned, g, columns, rows);
    } else {
      newton_schulz(k, g, rows, columns, scratch.data());
    }
    k.scale(static_cast<float>(1 - u.rate * u.weight_decay), w, w, s.count);
    k.axpy(static_cast<float>(-u.rate * 0.2 * std::sqrt(static_cast<double>(large))), g, w, s.count);
  }

  std::vector<NamedTensor> state() const override {
    std::vector<NamedTensor> list;
    if (places_.total > 0) list.push_back({"momentum", m_});
    adam_.append_state(list);
    return list;
  }
  std::vector<StateSlice> state_of(const Stretch& s) const override {
    if (takes_whole(s.weight)) return {{"momentum", places_.at[s.weight], s.count}};
    return adam_.state_of(s, s.begin - weights_[s.weight].begin);
  }

 private:
  static std::size_t size_of(const nn::Parameter& p) { return as_size(p.shape.count()); }

  std::vector<TrainedWeight> weights_;
  OptimizerOptions options_;
  StatePlaces places_;
  AdamState adam_;
  Tensor m_;
};

}  // namespace

std::unique_ptr<UpdateRule> make_muon(const std::vector<TrainedWeight>& weights, const OptimizerOptions& options) {
  return std::make_unique<MuonRule>(weights, options);
}

}  // namespace tril::train
