#include "train/optimizer.h"

#include <gtest/gtest.h>

#include <cmath>

#include "train/averaging.h"
#include "train/schedule.h"

namespace tril::train {
namespace {

// Weights of odd sizes over more than one piece, one of them frozen, one with a row that stays zero.
struct Fixture {
  nn::Parameters p;
  nn::Parameter *big, *frozen, *table, *small;

  Fixture() {
    big = &p.add("big", {331, 401}, nn::Init::normal(0.5));
    frozen = &p.add("frozen", {17}, nn::Init::normal(0.5));
    table = &p.add("table", {7, 5}, nn::Init::normal(0.5));
    small = &p.add("small", {3}, nn::Init::ones());
    frozen->trainable = false;
    table->zero_row = 4;
    p.allocate();
    p.initialise(3);
  }
  std::vector<float> flat() const { return host_copy<float>(p.flat()); }
  bool trained(std::int64_t i) const {
    for (const nn::Parameter& w : p.all()) {
      const std::int64_t at = p.offset_of(w);
      if (i < at || i >= at + w.shape.count()) continue;
      return w.trainable && !(w.zero_row >= 0 && (i - at) / w.shape[1] == w.zero_row);
    }
    return false;  // between weights
  }
};

std::vector<float> random_gradient(std::size_t n, std::uint64_t stream) {
  RandomSequence random(11, stream);
  std::vector<float> g(n);
  for (float& x : g) x = static_cast<float>(random.normal() * 0.01);
  return g;
}

Tensor tensor_of(const std::vector<float>& values) {
  const Tensor t = lasting_zeros(static_cast<std::int64_t>(values.size()));
  host_write<float>(t, values);
  return t;
}

// The papers' algorithms, value by value, in double.
struct Twin {
  std::vector<double> w, m, v, average;
  void step(const Fixture& f, const OptimizerOptions& o, const std::vector<float>& g, double rate, double scale,
            int t) {
    for (std::size_t i = 0; i < w.size(); ++i) {
      if (!f.trained(static_cast<std::int64_t>(i))) continue;
      double gradient = static_cast<double>(g[i]) * scale;
      if (!o.decoupled_decay) gradient += o.weight_decay * w[i];
      m[i] = o.beta1 * m[i] + (1 - o.beta1) * gradient;
      v[i] = o.beta2 * v[i] + (1 - o.beta2) * gradient * gradient;
      const double mean = m[i] / (1 - std::pow(o.beta1, t)), square = v[i] / (1 - std::pow(o.beta2, t));
      const double decay = o.decoupled_decay ? rate * o.weight_decay * w[i] : 0;
      w[i] -= rate * mean / (std::sqrt(square) + o.epsilon) + decay;
      const double keep = average_decay(o.ema, t);
      average[i] = keep * average[i] + (1 - keep) * w[i];
    }
  }
};

class OptimizerTwin : public testing::TestWithParam<bool> {};

TEST_P(OptimizerTwin, TenStepsEqualTheFormulas) {
  Fixture f;
  const OptimizerOptions options{
      .decoupled_decay = GetParam(), .beta1 = 0.9, .beta2 = 0.98, .epsilon = 1e-8, .weight_decay = 0.1, .ema = 0.9};
  Optimizer optimizer(f.p, options);
  optimizer.start_average();
  const std::vector<float> start = f.flat();
  Twin twin;
  twin.w.assign(start.begin(), start.end());
  twin.average = twin.w;
  twin.m.resize(start.size());
  twin.v.resize(start.size());

  for (int t = 1; t <= 10; ++t) {
    const std::vector<float> a = random_gradient(start.size(), 2 * static_cast<std::uint64_t>(t)),
                             b = random_gradient(start.size(), 2 * static_cast<std::uint64_t>(t) + 1);
    const std::vector<Tensor> gradients{tensor_of(a), tensor_of(b)};
    std::vector<float> sum(a.size());
    double squares = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      sum[i] = a[i] + b[i];
      if (f.trained(static_cast<std::int64_t>(i))) squares += static_cast<double>(sum[i]) * static_cast<double>(sum[i]);
    }
    for (const kern::Kernels* k : {&kern::best()}) {
      for (int part = 0; part < 2; ++part) optimizer.gather(*k, optimizer.pieces_of(part, 2), gradients);
      EXPECT_NEAR(optimizer.norm(), std::sqrt(squares), 1e-6 * std::sqrt(squares));
      const double scale = clipping(optimizer.norm(), 1.0), rate = 0.01 / t;
      EXPECT_LT(scale, 1.0) << "the test means to clip";
      for (int part = 0; part < 2; ++part)
        optimizer.step(*k, optimizer.pieces_of(part, 2), gradients[0], {rate, scale});
      optimizer.finish_step();
      twin.step(f, options, sum, rate, scale, t);
    }
  }
  EXPECT_EQ(optimizer.steps(), 10);
  const std::vector<float> w = f.flat(), average = host_copy<float>(optimizer.average());
  for (std::size_t i = 0; i < w.size(); ++i) {
    ASSERT_NEAR(w[i], twin.w[i], 2e-6 * (1 + std::abs(twin.w[i]))) << i;
    ASSERT_NEAR(average[i], twin.average[i], 2e-6 * (1 + std::abs(twin.average[i]))) << i;
    if (!f.trained(static_cast<std::int64_t>(i))) {
      ASSERT_EQ(w[i], start[i]) << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(AdamAndAdamW, OptimizerTwin, testing::Bool());

TEST(Optimizer, AnyDivisionAmongWorkersGivesTheSameBits) {
  std::vector<float> expected;
  double norm = 0;
  for (int parts : {1, 2, 3, 7}) {
    Fixture f;
    Optimizer optimizer(f.p, {});
    const std::vector<Tensor> gradients{tensor_of(random_gradient(f.flat().size(), 1))};
    for (int part = 0; part < parts; ++part)
      optimizer.gather(kern::best(), optimizer.pieces_of(part, parts), gradients);
    for (int part = 0; part < parts; ++part)
      optimizer.step(kern::best(), optimizer.pieces_of(part, parts), gradients[0], {0.01, 1});
    if (parts == 1) expected = f.flat(), norm = optimizer.norm();
    EXPECT_EQ(f.flat(), expected) << parts;
    EXPECT_EQ(optimizer.norm(), norm) << parts;
  }
}

TEST(Optimizer, ClippingNeverRaises) {
  EXPECT_DOUBLE_EQ(clipping(10, 2), 0.2);
  EXPECT_DOUBLE_EQ(clipping(1, 2), 1);
  EXPECT_DOUBLE_EQ(clipping(1e30, 0), 1);
}

TEST(Averaging, MeanOfSnapshotsAndBorrowedWeights) {
  Fixture f;
  const std::vector<float> first = f.flat();
  char name[] = "/tmp/tril-average-XXXXXX";
  const std::string dir = mkdtemp(name);
  std::vector<std::string> names{write_snapshot(dir, 1, f.p)};
  std::vector<float> second = first;
  for (float& x : second) x = x * 3 + 1;
  host_write<float>(f.p.flat(), second);
  names.push_back(write_snapshot(dir, 2, f.p));
  const std::vector<float> mean = mean_of_snapshots(dir, names, f.p.flat().count());
  for (std::size_t i = 0; i < mean.size(); ++i) ASSERT_FLOAT_EQ(mean[i], (first[i] + second[i]) / 2);
  {
    const BorrowedWeights borrowed(f.p, kern::best(), mean);
    EXPECT_EQ(f.flat(), mean);
  }
  EXPECT_EQ(f.flat(), second);
  EXPECT_THROW(mean_of_snapshots(dir, names, f.p.flat().count() + 1), Error);
  for (const std::string& n : names) std::remove((dir + "/" + n).c_str());
  rmdir(dir.c_str());
}

}  // namespace
}  // namespace tril::train
