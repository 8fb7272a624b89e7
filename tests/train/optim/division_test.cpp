// Ownership of weights: every trained value is stepped once, is sent to its owner, and has its state there.
#include "train/optim/division.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "base/rng.h"
#include "train/optim/optimizer.h"

namespace tril::train::division_test {
namespace {

constexpr OptimizerKind kinds[] = {OptimizerKind::adam, OptimizerKind::adamw, OptimizerKind::lion,
                                   OptimizerKind::adafactor, OptimizerKind::muon};

// Weights of odd sizes: some are frozen, two have a row that stays zero, at an end and in the middle.
struct Fixture {
  nn::Parameters p;

  explicit Fixture(std::int64_t rows = 331) {
    p.add("frozen_before", {5000}, nn::Init::normal(0.5)).trainable = false;
    add("embedding", {211, 130}).zero_row = 210;
    p.add("bias", {17}, nn::Init::normal(0.5));
    add("layers.0.wide", {rows, 401}).hidden_matrix = true;
    p.add("frozen_between", {20'000}, nn::Init::normal(0.5)).trainable = false;
    p.add("frozen_small", {9}, nn::Init::ones()).trainable = false;
    add("layers.1.tall", {400, 30}).hidden_matrix = true;
    add("table", {7, 5}).zero_row = 4;
    p.add("norm", {3}, nn::Init::ones());
    p.add("frozen_behind", {33}, nn::Init::ones()).trainable = false;
    p.allocate();
    p.initialise(3);
  }
  nn::Parameter& add(const char* name, Shape shape) { return p.add(name, shape, nn::Init::normal(0.5)); }

  /// 1 where a value of the flat block is trained.
  std::vector<int> trained() const {
    std::vector<int> marks(static_cast<std::size_t>(p.flat().count()));
    for (const nn::Parameter& w : p.all())
      for (std::int64_t i = 0; w.trainable && i < w.shape.count(); ++i)
        if (w.zero_row < 0 || i / w.shape[1] != w.zero_row) marks[static_cast<std::size_t>(p.offset_of(w) + i)] = 1;
    return marks;
  }
};

struct Divided {
  std::vector<TrainedWeight> weights;
  std::unique_ptr<UpdateRule> rule;
  std::vector<Division> ranks;

  Divided(const Fixture& f, OptimizerKind kind, int count) : weights(trained_weights(f.p)) {
    OptimizerOptions o;
    o.kind = kind;
    rule = make_rule(weights, o);
    for (int r = 0; r < count; ++r) ranks.emplace_back(f.p, weights, *rule, r, count);
  }
};

void for_each_division(const std::function<void(const Fixture&, const Divided&)>& look) {
  for (const OptimizerKind kind : kinds)
    for (const int ranks : {1, 2, 3, 4, 7, 40}) {
      SCOPED_TRACE(::testing::Message() << "optimiser " << static_cast<int>(kind) << ", " << ranks << " ranks");
      const Fixture f;
      look(f, Divided(f, kind, ranks));
    }
}

TEST(Division, EveryTrainedValueIsInOneStretchOfOnePiece) {
  for_each_division([](const Fixture& f, const Divided& d) {
    std::vector<int> marks(static_cast<std::size_t>(f.p.flat().count()));
    const Division& one = d.ranks[0];
    for (std::size_t piece = 0; piece < one.pieces(); ++piece)
      for (std::size_t s = one.first_of_piece(piece); s < one.first_of_piece(piece + 1); ++s) {
        const Stretch& stretch = one.stretches()[s];
        EXPECT_GT(stretch.count, 0u);
        EXPECT_TRUE(s == 0 || one.stretches()[s - 1].begin + one.stretches()[s - 1].count <= stretch.begin);
        const TrainedWeight& w = d.weights[stretch.weight];
        EXPECT_TRUE(w.begin <= stretch.begin && stretch.begin + stretch.count <= w.begin + w.count);
        for (std::size_t i = 0; i < stretch.count; ++i) ++marks[stretch.begin + i];
      }
    EXPECT_EQ(one.first_of_piece(one.pieces()), one.stretches().size());
    EXPECT_EQ(marks, f.trained());
    std::vector<int> rows(marks.size());
    for (const Stretch& row : one.untrained_rows())
      for (std::size_t i = 0; i < row.count; ++i) rows[row.begin + i] = 1;
    EXPECT_EQ(std::accumulate(rows.begin(), rows.end(), 0), 130 + 5);
    for (std::size_t i = 0; i < rows.size(); ++i) EXPECT_FALSE(rows[i] && marks[i]) << i;
  });
}

TEST(Division, EveryStretchIsOneRanksAndAllAgreeOnWhose) {
  for_each_division([](const Fixture&, const Divided& d) {
    const std::size_t count = d.ranks[0].stretches().size();
    std::vector<int> owners(count, -1);
    for (const Division& mine : d.ranks) {
      EXPECT_TRUE(std::is_sorted(mine.own().begin(), mine.own().end()));
      for (std::size_t s : mine.own()) {
        EXPECT_EQ(owners[s], -1) << "stretch " << s;
        owners[s] = mine.rank();
      }
    }
    for (const Division& mine : d.ranks)
      for (std::size_t s = 0; s < count; ++s) EXPECT_EQ(mine.owner_of(s), owners[s]) << s;
  });
}

TEST(Division, AWeightThatIsSteppedWholeIsOneRanks) {
  for_each_division([](const Fixture&, const Divided& d) {
    std::vector<int> owners(d.weights.size(), -1);
    for (const Division& mine : d.ranks)
      for (std::size_t w : mine.own_whole()) {
        EXPECT_TRUE(d.rule->takes_whole(w));
        EXPECT_EQ(owners[w], -1);
        owners[w] = mine.rank();
      }
    const Division& one = d.ranks[0];
    for (std::size_t w = 0; w < owners.size(); ++w) EXPECT_EQ(owners[w] >= 0, d.rule->takes_whole(w)) << w;
    for (std::size_t s = 0; s < one.stretches().size(); ++s)
      if (const std::size_t w = one.stretches()[s].weight; owners[w] >= 0) {
        EXPECT_EQ(one.owner_of(s), owners[w]) << s;
      }
  });
}

TEST(Division, BucketsAreTheWindowAndHoldWhatTheirOwnersStep) {
  for_each_division([](const Fixture& f, const Divided& d) {
    const Division& one = d.ranks[0];
    EXPECT_EQ(one.window_begin(), static_cast<std::size_t>(f.p.trained_window().begin));
    EXPECT_EQ(one.window_count(), static_cast<std::size_t>(f.p.trained_window().count));
    std::size_t next = 0;
    std::vector<int> sent_to(one.window_count(), -1);
    for (std::size_t b = 0; b < one.buckets().size(); ++b) {
      const Interval bucket = one.buckets()[b];
      EXPECT_EQ(bucket.begin, next);
      EXPECT_GT(bucket.count, 0u);
      next = bucket.begin + bucket.count;
      for (int r = 0; r < one.ranks(); ++r)
        for (const Interval& i : one.owned(b, r)) {
          EXPECT_TRUE(bucket.begin <= i.begin && i.begin + i.count <= next);
          for (std::size_t v = i.begin; v < i.begin + i.count; ++v) {
            EXPECT_EQ(sent_to[v], -1) << "value " << v << " goes to two ranks";
            sent_to[v] = r;
          }
        }
    }
    EXPECT_EQ(next, one.window_count());
    for (std::size_t s = 0; s < one.stretches().size(); ++s)
      for (std::size_t i = 0; i < one.stretches()[s].count; ++i)
        ASSERT_EQ(sent_to[one.stretches()[s].begin - one.window_begin() + i], one.owner_of(s)) << s;
    // Frozen values are not sent, except for gaps that cost less than another message.
    const auto frozen = static_cast<std::size_t>(f.p.offset_of(*f.p.find("frozen_between")));
    const auto sent = std::count_if(sent_to.begin() + static_cast<std::ptrdiff_t>(frozen - one.window_begin()),
                                    sent_to.begin() + static_cast<std::ptrdiff_t>(frozen - one.window_begin() + 20'000),
                                    [](int r) { return r >= 0; });
    EXPECT_EQ(sent, 0);
    for (const Division& other : d.ranks)
      for (std::size_t b = 0; b < one.buckets().size(); ++b)
        for (int r = 0; r < one.ranks(); ++r) {
          ASSERT_EQ(other.owned(b, r).size(), one.owned(b, r).size());
          for (std::size_t i = 0; i < one.owned(b, r).size(); ++i) {
            EXPECT_EQ(other.owned(b, r)[i].begin, one.owned(b, r)[i].begin);
            EXPECT_EQ(other.owned(b, r)[i].count, one.owned(b, r)[i].count);
          }
        }
  });
}

TEST(Division, RanksHaveEvenShares) {
  const Fixture f(12'000);  // 5 million values
  for (const int ranks : {2, 3, 8}) {
    const Divided d(f, OptimizerKind::adam, ranks);
    std::vector<std::size_t> loads;
    for (const Division& mine : d.ranks) {
      std::size_t load = 0;
      for (std::size_t s : mine.own()) load += mine.stretches()[s].count;
      loads.push_back(load);
    }
    const auto [least, most] = std::minmax_element(loads.begin(), loads.end());
    EXPECT_LT(static_cast<double>(*most), 1.1 * static_cast<double>(*least)) << ranks << " ranks";
  }
}

TEST(Division, LoadsAreDealtOutEvenly) {
  EXPECT_EQ(dealt_out({1, 5, 4, 1}, 2), (std::vector<std::size_t>{1, 0, 1, 0}));
  EXPECT_EQ(dealt_out({}, 3), std::vector<std::size_t>{});
  EXPECT_EQ(dealt_out({7}, 3), std::vector<std::size_t>{0});
}

// A single-rank optimizer and several ranks' optimizers with the same gradients: each rank has the same values in its
// own parts of the state, and the parts cover everything.
TEST(Division, OptimizersOfSeveralRanksKeepWhatOneKeeps) {
  const kern::Kernels& k = kern::best();
  const Fixture any;
  std::vector<std::vector<float>> gradients;  // of each update
  for (std::uint64_t number = 1; number <= 3; ++number) {
    RandomSequence random(11, number);
    std::vector<float>& values = gradients.emplace_back(static_cast<std::size_t>(any.p.trained_window().count));
    for (float& x : values) x = static_cast<float>(random.normal() * 0.01);
  }
  for (const OptimizerKind kind : kinds)
    for (const double ema : {0.0, 0.9})
      for (const int ranks : {1, 2, 3, 5}) {
        SCOPED_TRACE(::testing::Message()
                     << "optimiser " << static_cast<int>(kind) << ", ema " << ema << ", " << ranks << " ranks");
        OptimizerOptions options;
        options.kind = kind, options.ema = ema, options.weight_decay = 0.01;
        Fixture whole;
        Optimizer one(whole.p, options);
        std::vector<std::unique_ptr<Fixture>> parts;
        std::vector<std::unique_ptr<Optimizer>> some;
        for (int r = 0; r < ranks; ++r) {
          parts.push_back(std::make_unique<Fixture>());
          some.push_back(std::make_unique<Optimizer>(parts.back()->p, options, r, ranks));
        }
        const auto update = [&](Optimizer& o, std::uint64_t number) {
          const std::vector<float>& values = gradients[number - 1];
          Tensor gradient = lasting_zeros(static_cast<std::int64_t>(values.size()));
          host_write<float>(gradient, values);
          for (int part = 0; part < 2; ++part) o.gather(k, {part, 2}, {&gradient, 1});
          for (int part = 0; part < 2; ++part) o.step(k, {part, 2}, gradient, {0.01, 0.5});
          o.finish_step();
        };
        one.start_average();
        for (const auto& o : some) o->start_average();
        for (std::uint64_t u = 1; u <= 3; ++u) {
          update(one, u);
          for (const auto& o : some) update(*o, u);
          for (const auto& o : some)
            for (int r = 0; r < ranks; ++r) o->set_squares_of(r, some[static_cast<std::size_t>(r)]->own_squares());
          for (const auto& o : some) EXPECT_EQ(o->norm(), one.norm());
        }

        const std::vector<float> weights = host_copy<float>(whole.p.flat());
        for (std::size_t r = 0; r < some.size(); ++r) {
          const std::vector<float> theirs = host_copy<float>(parts[r]->p.flat());
          for (std::size_t s : some[r]->division().own()) {
            const Stretch& at = some[r]->division().stretches()[s];
            for (std::size_t i = at.begin; i < at.begin + at.count; ++i) ASSERT_EQ(theirs[i], weights[i]) << i;
          }
        }
        for (const NamedTensor& t : one.state()) {
          const std::vector<float> expected = host_copy<float>(t.value);
          std::vector<int> kept(expected.size());
          for (const auto& o : some) {
            std::vector<float> values;
            for (const NamedTensor& theirs : o->state())
              if (theirs.name == t.name) values = host_copy<float>(theirs.value);
            ASSERT_EQ(values.size(), expected.size()) << t.name;
            std::size_t behind = 0;
            for (const StateSlice& s : o->own_state()) {
              if (s.tensor != t.name) continue;
              EXPECT_GE(s.begin, behind) << "ascending";
              behind = s.begin + s.count;
              for (std::size_t i = s.begin; i < behind; ++i) {
                EXPECT_EQ(++kept[i], 1) << t.name << " " << i << " is two ranks'";
                ASSERT_EQ(values[i], expected[i]) << t.name << " " << i;
              }
            }
          }
          for (std::size_t i = 0; i < kept.size(); ++i)
            EXPECT_TRUE(kept[i] || expected[i] == 0) << t.name << " " << i << " is nobody's";
        }
      }
}

}  // namespace
}  // namespace tril::train::division_test
