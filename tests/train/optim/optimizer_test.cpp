#include "train/optim/optimizer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

#include "train/optim/averaging.h"
#include "train/optim/gradient_noise.h"
#include "train/optim/schedule.h"

namespace tril::train::optimizer_test {
namespace {

// Weights of odd sizes over more than one piece: one is frozen, one has a row that stays zero.
struct Fixture {
  nn::Parameters p;
  nn::Parameter *big, *frozen, *tall, *table, *small;

  Fixture() {
    big = &p.add("big", {67, 1979}, nn::Init::normal(0.5));
    frozen = &p.add("frozen", {17}, nn::Init::normal(0.5));
    tall = &p.add("layers.0.tall", {40, 30}, nn::Init::normal(0.5));
    table = &p.add("table", {7, 5}, nn::Init::normal(0.5));
    small = &p.add("small", {3}, nn::Init::ones());
    frozen->trainable = false;
    big->hidden_matrix = tall->hidden_matrix = true;
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

// The papers' algorithms, by value or by matrix, in double.
struct Twin {
  const Fixture& f;
  OptimizerOptions o;
  std::vector<double> w, m, v, average;
  std::map<const nn::Parameter*, std::vector<double>> row, column;

  Twin(const Fixture& fixture, const OptimizerOptions& options) : f(fixture), o(options) {
    const std::vector<float> start = f.flat();
    w.assign(start.begin(), start.end());
    average = w;
    m.resize(w.size());
    v.resize(w.size());
  }

  void adam(std::size_t i, double g, double rate, int t, bool decoupled) {
    if (!decoupled) g += o.weight_decay * w[i];
    m[i] = o.beta1 * m[i] + (1 - o.beta1) * g;
    v[i] = o.beta2 * v[i] + (1 - o.beta2) * g * g;
    const double mean = m[i] / (1 - std::pow(o.beta1, t)), square = v[i] / (1 - std::pow(o.beta2, t));
    const double decay = decoupled ? rate * o.weight_decay * w[i] : 0;
    w[i] -= rate * mean / (std::sqrt(square) + o.epsilon) + decay;
  }

  void lion(std::size_t i, double g, double rate) {
    const double c = o.beta1 * m[i] + (1 - o.beta1) * g;
    w[i] -= rate * ((c > 0 ? 1 : c < 0 ? -1 : 0) + o.weight_decay * w[i]);
    m[i] = o.beta2 * m[i] + (1 - o.beta2) * g;
  }

  static double rms(const std::vector<double>& x) {
    double squares = 0;
    for (double value : x) squares += value * value;
    return std::sqrt(squares / static_cast<double>(x.size()));
  }

  void adafactor(const nn::Parameter& p, std::size_t at, const std::vector<double>& g, double rate, int t) {
    const double beta = 1 - std::pow(t, -0.8);
    const std::size_t n = g.size();
    std::vector<double> u(n),
        old(w.begin() + static_cast<std::ptrdiff_t>(at), w.begin() + static_cast<std::ptrdiff_t>(at + n));
    if (p.shape.rank() == 2) {
      const auto rows = static_cast<std::size_t>(p.shape[0]), columns = static_cast<std::size_t>(p.shape[1]);
      std::vector<double>&r = row[&p], &c = column[&p];
      r.resize(rows), c.resize(columns);
      for (double& x : r) x *= beta;
      for (double& x : c) x *= beta;
      for (std::size_t i = 0; i < n; ++i) {
        const double s = g[i] * g[i] + 1e-30;
        r[i / columns] += (1 - beta) * s / static_cast<double>(columns);
        c[i % columns] += (1 - beta) * s / static_cast<double>(rows);
      }
      const double mean = std::accumulate(r.begin(), r.end(), 0.0) / static_cast<double>(rows);
      for (std::size_t i = 0; i < n; ++i) u[i] = g[i] / std::sqrt(r[i / columns] * c[i % columns] / mean);
    } else {
      for (std::size_t i = 0; i < n; ++i) {
        v[at + i] = beta * v[at + i] + (1 - beta) * (g[i] * g[i] + 1e-30);
        u[i] = g[i] / std::sqrt(v[at + i]);
      }
    }
    const double alpha = rate * std::max(1e-3, rms(old)) / std::max(1.0, rms(u));
    for (std::size_t i = 0; i < n; ++i) w[at + i] -= alpha * u[i] + rate * o.weight_decay * w[at + i];
  }

  void muon(const nn::Parameter& p, std::size_t at, std::vector<double> d, double rate) {
    auto rows = static_cast<std::size_t>(p.shape[0]), columns = static_cast<std::size_t>(p.shape[1]);
    for (std::size_t i = 0; i < d.size(); ++i) {
      m[at + i] = o.momentum * m[at + i] + (1 - o.momentum) * d[i];
      d[i] = o.momentum * m[at + i] + (1 - o.momentum) * d[i];
    }
    const std::size_t wide = std::max(rows, columns);
    const bool turn = rows > columns;
    std::vector<double> x = d;
    if (turn) {
      for (std::size_t i = 0; i < d.size(); ++i) x[(i % columns) * rows + i / columns] = d[i];
      std::swap(rows, columns);
    }
    const double norm = rms(x) * std::sqrt(static_cast<double>(x.size()));
    for (double& value : x) value /= norm;
    const auto product = [](const std::vector<double>& a, const std::vector<double>& b, std::size_t n, std::size_t k,
                            std::size_t c) {
      std::vector<double> y(n * c);
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < k; ++j) {
          const double factor = a[i * k + j], *from = &b[j * c];
          for (double *to = &y[i * c], *end = to + c; to < end; ++to) *to += factor * *from++;
        }
      return y;
    };
    for (int step = 0; step < 5; ++step) {
      std::vector<double> xt(x.size());
      for (std::size_t i = 0; i < x.size(); ++i) xt[(i % columns) * rows + i / columns] = x[i];
      const std::vector<double> a = product(x, xt, rows, columns, rows), aa = product(a, a, rows, rows, rows);
      std::vector<double> b(a.size());
      for (std::size_t i = 0; i < a.size(); ++i) b[i] = -4.7750 * a[i] + 2.0315 * aa[i];
      const std::vector<double> bx = product(b, x, rows, rows, columns);
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = 3.4445 * x[i] + bx[i];
    }
    for (std::size_t i = 0; i < x.size(); ++i) {
      const std::size_t to = at + (turn ? (i % columns) * rows + i / columns : i);
      w[to] -= rate * (0.2 * std::sqrt(static_cast<double>(wide)) * x[i] + o.weight_decay * w[to]);
    }
  }

  void step(const std::vector<float>& sum, double rate, double scale, int t) {
    for (const nn::Parameter& p : f.p.all()) {
      if (!p.trainable) continue;
      const auto at = static_cast<std::size_t>(f.p.offset_of(p)), n = static_cast<std::size_t>(p.shape.count());
      std::vector<double> g(n);
      for (std::size_t i = 0; i < n; ++i)
        if (f.trained(static_cast<std::int64_t>(at + i))) g[i] = static_cast<double>(sum[at + i]) * scale;
      if (o.kind == OptimizerKind::adafactor) {
        adafactor(p, at, g, rate, t);
      } else if (o.kind == OptimizerKind::muon && p.hidden_matrix) {
        muon(p, at, g, rate);
      } else {
        for (std::size_t i = 0; i < n; ++i) {
          if (!f.trained(static_cast<std::int64_t>(at + i))) continue;
          if (o.kind == OptimizerKind::lion)
            lion(at + i, g[i], rate);
          else
            adam(at + i, g[i], rate, t, o.kind != OptimizerKind::adam);
        }
      }
    }
    const double keep = average_decay(o.ema, t);
    for (std::size_t i = 0; i < w.size(); ++i) average[i] = keep * average[i] + (1 - keep) * w[i];
  }
};

constexpr std::array all_kinds{OptimizerKind::adam, OptimizerKind::adamw, OptimizerKind::lion, OptimizerKind::adafactor,
                               OptimizerKind::muon};

class OptimizerTwin : public ::testing::TestWithParam<OptimizerKind> {};

TEST_P(OptimizerTwin, TenStepsEqualTheFormulas) {
  Fixture f;
  const OptimizerOptions options{
      .kind = GetParam(), .beta1 = 0.9, .beta2 = 0.98, .epsilon = 1e-8, .weight_decay = 0.1, .ema = 0.9};
  Optimizer optimizer(f.p, options);
  optimizer.measure_parts(2);
  optimizer.start_average();
  const std::vector<float> start = f.flat();
  Twin twin(f, options);
  for (int t = 1; t <= 10; ++t) {
    const std::vector<float> a = random_gradient(start.size(), 2 * static_cast<std::uint64_t>(t)),
                             b = random_gradient(start.size(), 2 * static_cast<std::uint64_t>(t) + 1);
    std::vector<Tensor> gradients{tensor_of(a), tensor_of(b)};
    std::vector<float> sum(a.size());
    double squares = 0, squares_of_b = 0, squares_of_small = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      sum[i] = a[i] + b[i];
      if (!f.trained(static_cast<std::int64_t>(i))) continue;
      const double square = static_cast<double>(sum[i]) * static_cast<double>(sum[i]);
      squares += square;
      squares_of_b += static_cast<double>(b[i]) * static_cast<double>(b[i]);
      if (static_cast<std::int64_t>(i) >= f.p.offset_of(*f.small)) squares_of_small += square;
    }
    for (int part = 0; part < 2; ++part) optimizer.gather(kern::best(), {part, 2}, gradients);
    EXPECT_NEAR(optimizer.norm(), std::sqrt(squares), 1e-6 * std::sqrt(squares));
    EXPECT_NEAR(optimizer.squared_norm_of(1), squares_of_b, 1e-6 * squares_of_b);
    const std::vector<GroupNorm> groups = optimizer.group_norms();
    ASSERT_EQ(groups.size(), 4u) << "big, layers.0, table, small";
    EXPECT_EQ(groups[1].group, "layers.0");
    EXPECT_NEAR(groups[3].norm, std::sqrt(squares_of_small), 1e-6);
    const double scale = clipping(optimizer.norm(), 1.0), rate = 0.01 / t;
    EXPECT_LT(scale, 1.0) << "the test means to clip";
    for (int part = 0; part < 2; ++part) optimizer.step(kern::best(), {part, 2}, gradients[0], {rate, scale});
    optimizer.finish_step();
    twin.step(sum, rate, scale, t);
  }
  EXPECT_EQ(optimizer.steps(), 10);
  const std::vector<float> w = f.flat(), average = optimizer.averaged_weights();
  for (std::size_t i = 0; i < w.size(); ++i) {
    ASSERT_NEAR(w[i], twin.w[i], 4e-6 * (1 + std::abs(twin.w[i]))) << i;
    ASSERT_NEAR(average[i], twin.average[i], 4e-6 * (1 + std::abs(twin.average[i]))) << i;
    if (!f.trained(static_cast<std::int64_t>(i))) {
      ASSERT_EQ(w[i], start[i]) << i;
    }
  }
}

TEST_P(OptimizerTwin, AnyDivisionAmongWorkersGivesTheSameBits) {
  std::vector<float> expected;
  double norm = 0;
  for (int parts : {1, 2, 3, 7}) {
    Fixture f;
    Optimizer optimizer(f.p, {.kind = GetParam(), .gradient_noise = 1e-4});
    for (int update = 0; update < 2; ++update) {
      std::vector<Tensor> gradients{tensor_of(random_gradient(f.flat().size(), 1))};
      for (int part = 0; part < parts; ++part) optimizer.gather(kern::best(), {part, parts}, gradients);
      for (int part = 0; part < parts; ++part) optimizer.step(kern::best(), {part, parts}, gradients[0], {0.01, 1});
      optimizer.finish_step();
    }
    if (parts == 1) expected = f.flat(), norm = optimizer.norm();
    EXPECT_EQ(f.flat(), expected) << parts;
    EXPECT_EQ(optimizer.norm(), norm) << parts;
  }
}

TEST_P(OptimizerTwin, GoesOnFromItsStateBitForBit) {
  const auto run = [](Fixture& f, Optimizer& optimizer, int first, int last) {
    for (int t = first; t <= last; ++t) {
      std::vector<Tensor> gradients{tensor_of(random_gradient(f.flat().size(), static_cast<std::uint64_t>(t)))};
      optimizer.gather(kern::best(), {}, gradients);
      optimizer.step(kern::best(), {}, gradients[0], {0.01, 1});
      optimizer.finish_step();
    }
  };
  const OptimizerOptions options{.kind = GetParam(), .ema = 0.9, .gradient_noise = 1e-4};
  Fixture whole, pieces;
  Optimizer one(whole.p, options), before(pieces.p, options), after(pieces.p, options);
  one.start_average(), before.start_average();
  run(whole, one, 1, 6);
  run(pieces, before, 1, 3);
  const std::vector<NamedTensor> from = before.state(), to = after.state();
  ASSERT_EQ(from.size(), to.size());
  for (std::size_t i = 0; i < from.size(); ++i) {
    EXPECT_EQ(from[i].name, to[i].name);
    host_write<float>(to[i].value, host_copy<float>(from[i].value));
  }
  after.set_steps(3);
  run(pieces, after, 4, 6);
  EXPECT_EQ(pieces.flat(), whole.flat());
  EXPECT_EQ(after.averaged_weights(), one.averaged_weights());
}

std::string name_of_kind(const ::testing::TestParamInfo<OptimizerKind>& info) {
  constexpr std::array names{"adam", "adamw", "lion", "adafactor", "muon"};
  return names.at(info.index);
}
INSTANTIATE_TEST_SUITE_P(Kinds, OptimizerTwin, ::testing::ValuesIn(all_kinds), name_of_kind);

// The optimizer state: Adam's two moments, Lion's one, Adafactor's rows and columns.
TEST(Optimizer, StatesAreAsSmallAsTheirPapersSay) {
  const auto values = [](OptimizerKind kind) {
    Fixture f;
    std::int64_t n = 0;
    for (const NamedTensor& t : Optimizer(f.p, {.kind = kind}).state()) n += t.value.count();
    return n;
  };
  const std::int64_t matrix = 67 * 1979, tall = 40 * 30, table = 35, vector = 3;
  EXPECT_EQ(values(OptimizerKind::lion), matrix + tall + table + vector);
  EXPECT_EQ(values(OptimizerKind::adafactor), 67 + 1979 + 40 + 30 + 7 + 5 + vector);
  EXPECT_EQ(values(OptimizerKind::muon), matrix + tall + 2 * (table + vector));
  EXPECT_GE(values(OptimizerKind::adam), 2 * (matrix + tall + table + vector));
}

TEST(Optimizer, MuonsStepIsNearlyOrthogonal) {
  Fixture f;
  Optimizer optimizer(f.p, {.kind = OptimizerKind::muon, .momentum = 0});
  const std::vector<float> before = host_copy<float>(f.tall->value);
  std::vector<Tensor> gradients{tensor_of(random_gradient(f.flat().size(), 1))};
  optimizer.gather(kern::best(), {}, gradients);
  optimizer.step(kern::best(), {}, gradients[0], {1, 1});
  const std::vector<float> after = host_copy<float>(f.tall->value);
  for (int a = 0; a < 30; ++a)
    for (int b = 0; b < 30; ++b) {
      double product = 0;
      for (int i = 0; i < 40; ++i) {
        const auto change = [&](int j) {
          const auto at = static_cast<std::size_t>(i * 30 + j);
          return (static_cast<double>(after[at]) - static_cast<double>(before[at])) / (0.2 * std::sqrt(40));
        };
        product += change(a) * change(b);
      }
      EXPECT_NEAR(product, a == b ? 1 : 0, 0.65) << a << " " << b;  // singular values between 0.7 and 1.2
    }
}

TEST(Optimizer, NoiseHasThePapersVarianceAfterClipping) {
  Fixture f;
  Optimizer optimizer(f.p, {.kind = OptimizerKind::lion, .beta1 = 0, .beta2 = 0, .gradient_noise = 0.5});
  std::vector<Tensor> gradients{tensor_of(std::vector<float>(f.flat().size()))};
  optimizer.set_steps(7);
  optimizer.gather(kern::best(), {}, gradients);
  optimizer.step(kern::best(), {}, gradients[0], {0, 0.25});
  double sum = 0, squares = 0;
  const std::vector<float> m = host_copy<float>(optimizer.state().at(0).value);  // the gradient itself, as beta2 is 0
  const std::size_t n = 67 * 1979;
  for (std::size_t i = 0; i < n; ++i)
    sum += static_cast<double>(m[i]), squares += std::pow(static_cast<double>(m[i]), 2);
  const double variance = 0.5 / std::pow(1 + 8, 0.55);
  EXPECT_NEAR(squares / n, variance, 0.02 * variance);
  EXPECT_NEAR(sum / n, 0, 0.01);
  const std::vector<float> table = host_copy<float>(f.table->value);
  for (std::size_t i = 20; i < 25; ++i) EXPECT_EQ(table[i], 0) << "the row of padding";
}

TEST(GradientNoise, IsFoundInGradientsOfKnownNoise) {
  RandomSequence random(4, 4);
  const int dimensions = 50;
  const double signal = 0.3, deviation = 2;  // of each dimension: |G|^2 = 4.5, tr(S) = 200
  GradientNoise sums;
  EXPECT_FALSE(sums.scale().has_value());
  for (int update = 0; update < 2000; ++update) {
    const std::array<double, 3> tokens{30, 50, 20};
    std::array<std::vector<double>, 3> g;
    std::vector<double> whole(dimensions);
    std::vector<PartGradient> parts;
    for (std::size_t part = 0; part < 3; ++part) {
      double squares = 0;
      for (int i = 0; i < dimensions; ++i) {
        const double x = signal + deviation * random.normal() / std::sqrt(tokens.at(part));
        squares += x * x;
        whole[static_cast<std::size_t>(i)] += x * tokens.at(part) / 100;
      }
      parts.push_back({squares, tokens.at(part)});
    }
    double squares = 0;
    for (double x : whole) squares += x * x;
    sums.add(gradient_noise(parts, squares, 100));
  }
  EXPECT_NEAR(sums.scale().value_or(0), 200 / 4.5, 2);
  EXPECT_FALSE(gradient_noise(std::vector<PartGradient>{{1, 10}}, 1, 10).scale().has_value());
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
}  // namespace tril::train::optimizer_test
