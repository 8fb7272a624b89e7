// Checks of every family of models, shared by the tests of encoder-decoders and of decoder-only models.
#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "model/spec/model.h"
#include "support/rounds.h"

namespace tril::testing {

/// The loss of a batch, a scalar.
using LossOf = std::function<Tensor(Context&, const model::Model&)>;

/// The gradient of each trained weight; zeros for skipped layers.
inline std::vector<std::vector<float>> gradients(Context& c, const model::Model& m, const LossOf& loss_of) {
  Tape tape;
  Grads grads;
  m.parameters().watch(tape);
  c.set_tape(&tape);
  const Tensor loss = loss_of(c, m);
  tape.backward(c, loss, c.upload<float>({1.0f}), grads);
  c.set_tape(nullptr);
  std::vector<std::vector<float>> list;
  for (const nn::Parameter& p : m.parameters().all())
    if (p.trainable) {
      const Tensor g = grads.get(p.value);
      list.push_back(g ? host_copy<float>(g) : std::vector<float>(static_cast<std::size_t>(p.shape.count())));
    }
  return list;
}

/// With every set of kernels: moving a weight along its own gradient g by +-h changes the loss by 2 h |g|. A zero
/// gradient is accepted only if `vanishes` names it. TRIL_ROUNDS as a share moves fewer weights with each set of
/// kernels, others with the next.
/// @param share  of the loss that a step changes: less where a larger step crosses kinks
inline void expect_gradients_are_slopes(model::Model& m, const LossOf& loss_of,
                                        const std::function<bool(const std::string& name)>& vanishes,
                                        double share = 0.0004) {
  const std::size_t step = test::stride(m.parameters().all().size());
  std::size_t first = 0;
  for (const kern::Kernels* kernels : kern::tables()) {
    SCOPED_TRACE(kernels->name);
    Arena arena;
    Context c(arena, *kernels);
    const auto found = gradients(c, m, loss_of);
    const double loss = host_copy<float>(loss_of(c, m))[0];
    std::size_t i = 0;
    for (nn::Parameter& p : m.parameters().all()) {
      if (!p.trainable) continue;
      const std::vector<float>& g = found[i++];
      double norm = 0;
      for (float x : g) norm += static_cast<double>(x) * static_cast<double>(x);
      norm = std::sqrt(norm);
      if (norm < 1e-3) {
        EXPECT_TRUE(vanishes(p.name)) << p.name << ": " << norm;
        continue;
      }
      if (i % step != first) continue;
      const std::vector<float> before = host_copy<float>(p.value);
      const double h = std::min(0.02, share * loss / norm);  // RMS norms of short vectors bend quickly
      const auto move_to = [&](double along) {
        std::vector<float> moved = before;
        for (std::size_t j = 0; j < moved.size(); ++j) moved[j] += static_cast<float>(along / norm * double(g[j]));
        host_write<float>(p.value, moved);
        m.parameters().refresh(*kernels);
      };
      const auto loss_at = [&](double along) {
        move_to(along);
        return static_cast<double>(host_copy<float>(loss_of(c, m))[0]);
      };
      const double slope = (loss_at(h) - loss_at(-h)) / (2 * h);
      EXPECT_NEAR(slope, norm, 1e-2 * norm) << p.name;
      move_to(0);
    }
    first = (first + 1) % step;
  }
}

inline void expect_near(const std::vector<float>& got, const std::vector<float>& expected, double tolerance) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(got[i], expected[i], tolerance * (1 + std::abs(static_cast<double>(expected[i])))) << i;
}

/// |got - expected| / |expected|.
inline double relative_error(const std::vector<float>& got, const std::vector<float>& expected) {
  EXPECT_EQ(got.size(), expected.size());
  double error = 0, size = 0;
  for (std::size_t i = 0; i < std::min(got.size(), expected.size()); ++i) {
    error += std::pow(static_cast<double>(got[i]) - static_cast<double>(expected[i]), 2);
    size += static_cast<double>(expected[i]) * static_cast<double>(expected[i]);
  }
  return std::sqrt(error / size);
}

}  // namespace tril::testing
