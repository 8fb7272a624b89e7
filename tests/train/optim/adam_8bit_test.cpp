// Adam with moments in 8 bits: which weights have them, that it moves as with 32 bits, and that nothing depends on who steps what.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "base/rng.h"
#include "support/contains.h"
#include "train/optim/optimizer.h"

namespace tril::train::adam_8bit_test {
namespace {

// Matrices of odd sizes, with and without codes. The first begins within a block of the pieces, as a frozen weight precedes it.
struct Fixture {
  nn::Parameters p;
  nn::Parameter *table, *big, *wide, *small;

  Fixture() {
    p.add("frozen", {100, 3}, nn::Init::normal(0.5)).trainable = false;
    table = &p.add("table", {301, 37}, nn::Init::normal(0.5));
    big = &p.add("layers.0.big", {67, 1979}, nn::Init::normal(0.5));
    p.add("layers.0.bias", {67}, nn::Init::normal(0.5));
    wide = &p.add("layers.1.wide", {64, 64}, nn::Init::normal(0.5));
    small = &p.add("layers.1.small", {63, 65}, nn::Init::normal(0.5));
    table->zero_row = 4;
    big->hidden_matrix = wide->hidden_matrix = small->hidden_matrix = true;
    p.allocate();
    p.initialise(3);
  }
  std::vector<float> flat() const { return host_copy<float>(p.flat()); }
};

OptimizerOptions options_with(StateBits bits) {
  OptimizerOptions o;
  o.kind = OptimizerKind::adamw;
  o.bits = bits;
  o.weight_decay = 0.01;
  return o;
}

Tensor random_gradient(const Fixture& f, std::uint64_t update) {
  RandomSequence random(11, update);
  std::vector<float> g(static_cast<std::size_t>(f.p.trained_window().count));
  for (float& x : g) x = static_cast<float>((random.normal() + 0.3) * 0.01);
  const Tensor t = lasting_zeros(static_cast<std::int64_t>(g.size()));
  host_write<float>(t, g);
  return t;
}

void train(Fixture& f, Optimizer& o, std::uint64_t first, std::uint64_t last, int parts = 1) {
  for (std::uint64_t update = first; update <= last; ++update) {
    Tensor gradient = random_gradient(f, update);
    for (int part = 0; part < parts; ++part) o.gather(kern::best(), {part, parts}, {&gradient, 1});
    for (int part = 0; part < parts; ++part) o.step(kern::best(), {part, parts}, gradient, {0.01, 1});
    o.finish_step();
  }
}

double root_mean_square(const std::vector<float>& a, const std::vector<float>& b) {
  double squares = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    squares += std::pow(static_cast<double>(a[i]) - static_cast<double>(b[i]), 2);
  return std::sqrt(squares / static_cast<double>(a.size()));
}

TEST(Adam8BitRule, MovesAsWith32BitsAndKeepsThemForAllButLargeMatrices) {
  Fixture full, eight;
  Optimizer a(full.p, options_with(StateBits::full)), b(eight.p, options_with(StateBits::eight));
  const Fixture start;
  train(full, a, 1, 20), train(eight, b, 1, 20);
  for (const nn::Parameter& w : eight.p.all()) {
    const std::vector<float> got = host_copy<float>(w.value), expected = host_copy<float>(full.p.find(w.name)->value);
    if (&w != eight.big && &w != eight.wide) {
      EXPECT_EQ(got, expected) << w.name;
      continue;
    }
    const double moved = root_mean_square(expected, host_copy<float>(start.p.find(w.name)->value));
    const double apart = root_mean_square(got, expected);
    EXPECT_GT(apart, 0) << w.name;
    EXPECT_LT(apart, 0.05 * moved) << w.name;
  }
}

TEST(Adam8BitRule, TakesTwoBytesForAValueAndAScaleForABlock) {
  const Fixture f;
  Fixture mine;
  std::map<std::string, std::size_t> bytes;
  for (const NamedTensor& t : Optimizer(mine.p, options_with(StateBits::eight)).state())
    bytes[t.name] = t.value.bytes();
  const std::size_t big = 67 * 1979, wide = 64 * 64, others = 301 * 37 + 67 + 63 * 65;
  EXPECT_EQ(bytes.size(), 6u);
  for (const char* name : {"moment1_codes", "moment2_codes"}) EXPECT_EQ(bytes[name], big + wide) << name;
  for (const char* name : {"moment1", "moment2"}) EXPECT_EQ(bytes[name], 4 * others) << name;
  for (const char* name : {"moment1_scales", "moment2_scales"})
    EXPECT_EQ(bytes[name], 4 * ((big + 255) / 256 + 1 + 16 + 1)) << name;
}

TEST(Adam8BitRule, AnyDivisionAmongWorkersGivesTheSameBits) {
  std::vector<float> expected;
  for (const int parts : {1, 2, 3, 7}) {
    Fixture f;
    Optimizer o(f.p, options_with(StateBits::eight));
    train(f, o, 1, 3, parts);
    if (parts == 1) expected = f.flat();
    EXPECT_EQ(f.flat(), expected) << parts;
  }
}

TEST(Adam8BitRule, GoesOnFromItsStateBitForBit) {
  Fixture whole, pieces;
  Optimizer one(whole.p, options_with(StateBits::eight)), before(pieces.p, options_with(StateBits::eight)),
      after(pieces.p, options_with(StateBits::eight));
  train(whole, one, 1, 6);
  train(pieces, before, 1, 3);
  const std::vector<NamedTensor> from = before.state(), to = after.state();
  ASSERT_EQ(from.size(), to.size());
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (from[i].value.dtype() == DType::u8)
      host_write<std::uint8_t>(to[i].value, host_copy<std::uint8_t>(from[i].value));
    else
      host_write<float>(to[i].value, host_copy<float>(from[i].value));
  }
  after.set_steps(3);
  train(pieces, after, 4, 6);
  EXPECT_EQ(pieces.flat(), whole.flat());
}

// Each rank has what a single process has, in its own parts of the state: no block belongs to two.
TEST(Adam8BitRule, RanksKeepWhatOneProcessKeeps) {
  Fixture whole;
  Optimizer one(whole.p, options_with(StateBits::eight));
  train(whole, one, 1, 2);
  const auto bytes_of = [](const NamedTensor& t, const StateSlice& s) {
    const Tensor rows = t.value.rows(static_cast<std::int64_t>(s.begin), static_cast<std::int64_t>(s.begin + s.count));
    std::vector<double> values;
    if (rows.dtype() == DType::u8) {
      for (const std::uint8_t x : host_copy<std::uint8_t>(rows)) values.push_back(x);
    } else {
      for (const float x : host_copy<float>(rows)) values.push_back(static_cast<double>(x));
    }
    return values;
  };
  for (const int ranks : {2, 3}) {
    std::map<std::string, std::vector<int>> kept;
    for (int r = 0; r < ranks; ++r) {
      Fixture f;
      Optimizer mine(f.p, options_with(StateBits::eight), r, ranks);
      train(f, mine, 1, 2);
      const std::vector<NamedTensor> theirs = one.state(), own = mine.state();
      for (const StateSlice& s : mine.own_state())
        for (std::size_t i = 0; i < own.size(); ++i) {
          if (own[i].name != s.tensor) continue;
          EXPECT_EQ(bytes_of(own[i], s), bytes_of(theirs[i], s)) << s.tensor << " of rank " << r;
          std::vector<int>& times = kept[s.tensor];
          times.resize(static_cast<std::size_t>(own[i].value.count()));
          for (std::size_t v = s.begin; v < s.begin + s.count; ++v) EXPECT_EQ(++times[v], 1) << s.tensor << " " << v;
        }
    }
    for (const char* name : {"moment1_codes", "moment2_codes"})
      for (const int times : kept[name]) ASSERT_EQ(times, 1) << name;
  }
}

TEST(Adam8BitRule, AGradientThatIsNoNumberIsSeenInTheWeights) {
  Fixture f;
  Optimizer o(f.p, options_with(StateBits::eight));
  Tensor gradient = random_gradient(f, 1);
  std::vector<float> values = host_copy<float>(gradient);
  values[static_cast<std::size_t>(f.p.offset_of(*f.big) - f.p.trained_window().begin) + 1000] = NAN;
  host_write<float>(gradient, values);
  o.gather(kern::best(), {}, {&gradient, 1});
  EXPECT_FALSE(std::isfinite(o.norm())) << "the guard refuses such an update";
  o.step(kern::best(), {}, gradient, {0.01, 1});
  EXPECT_FALSE(o.finite_weights(kern::best())) << "and finds it if it was applied";
}

TEST(Adam8BitRule, IsRefusedWhereNoWeightHasIt) {
  Fixture f;
  f.big->hidden_matrix = f.wide->hidden_matrix = false;
  try {
    const Optimizer o(f.p, options_with(StateBits::eight));
    FAIL() << "accepted";
  } catch (const Error& e) {
    EXPECT_TRUE(contains(e.what(), "optimizer_bits", "4096")) << e.what();
  }
}

}  // namespace
}  // namespace tril::train::adam_8bit_test
