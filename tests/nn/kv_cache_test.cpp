// KvCache against the simplest cache: a list of values for each row.
#include "nn/kv_cache.h"

#include <gtest/gtest.h>

#include <set>

#include "base/rng.h"

namespace tril::nn {
namespace {

constexpr std::int64_t layers = 2, key_size = 3, value_size = 2;
const std::vector<KvCache::Layer> of_tokens(layers, {.key_size = key_size, .value_size = value_size});

// The contents of a row: a number for each token, which determines its keys and values.
using Row = std::vector<std::int32_t>;

float key_of(std::int32_t token, std::int64_t layer, std::int64_t j) {
  return static_cast<float>(token * 100 + layer * 10 + j);
}
float value_of(std::int32_t token, std::int64_t layer, std::int64_t j) {
  return -key_of(token, layer, j) - 5;
}

Tensor wide(Context& c, const Row& tokens, std::int64_t layer, std::int64_t width,
            float (*of)(std::int32_t, std::int64_t, std::int64_t)) {
  std::vector<float> values;  // with two columns more, as a slice of a fused projection has
  for (std::int32_t t : tokens) {
    for (std::int64_t j = 0; j < width; ++j) values.push_back(of(t, layer, j));
    values.push_back(-1e9f), values.push_back(-1e9f);
  }
  return c.upload<float>(values, {static_cast<std::int64_t>(tokens.size()), width + 2}).columns(0, width);
}

void extend(Context& c, KvCache& cache, std::vector<Row>& model, const std::vector<std::int32_t>& counts,
            std::int32_t& next) {
  Row tokens;
  for (std::size_t r = 0; r < counts.size(); ++r)
    for (std::int32_t i = 0; i < counts[r]; ++i) tokens.push_back(next), model[r].push_back(next++);
  const auto fresh = cache.extend(counts);
  EXPECT_EQ(fresh.size(), tokens.size());
  EXPECT_EQ(std::set<std::int32_t>(fresh.begin(), fresh.end()).size(), tokens.size());
  for (std::int64_t l = 0; l < layers; ++l)
    cache.store(c, l, wide(c, tokens, l, key_size, key_of), wide(c, tokens, l, value_size, value_of));
}

void expect_same(const KvCache& cache, const std::vector<Row>& model) {
  ASSERT_EQ(cache.rows(), static_cast<std::int64_t>(model.size()));
  std::set<std::int32_t> in_use;
  for (std::size_t r = 0; r < model.size(); ++r) {
    const auto& slots = cache.slots(static_cast<std::int64_t>(r));
    ASSERT_EQ(slots.size(), model[r].size());
    in_use.insert(slots.begin(), slots.end());
  }
  EXPECT_EQ(cache.used_slots(), static_cast<std::int64_t>(in_use.size())) << "slots that no row names are free";
  for (std::int64_t l = 0; l < layers && cache.capacity() > 0; ++l) {
    const auto keys = host_copy<float>(cache.keys(l)), values = host_copy<float>(cache.values(l));
    for (std::size_t r = 0; r < model.size(); ++r)
      for (std::size_t t = 0; t < model[r].size(); ++t) {
        const std::int64_t slot = cache.slots(static_cast<std::int64_t>(r))[t];
        for (std::int64_t j = 0; j < key_size; ++j)
          ASSERT_EQ(keys[static_cast<std::size_t>(slot * key_size + j)], key_of(model[r][t], l, j))
              << "row " << r << " token " << t;
        for (std::int64_t j = 0; j < value_size; ++j)
          ASSERT_EQ(values[static_cast<std::size_t>(slot * value_size + j)], value_of(model[r][t], l, j))
              << "row " << r << " token " << t;
      }
  }
}

TEST(KvCache, IsWhatRowsOfValuesWouldBe) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Arena arena;
    Context c(arena);
    KvCache cache(c, of_tokens);
    RandomSequence random(seed, 3);
    std::vector<Row> model;
    std::int32_t next = 0;
    for (int step = 0; step < 60; ++step) {
      switch (random.below(4)) {
        case 0: {
          const auto n = random.below(3);
          cache.add_rows(static_cast<std::int64_t>(n));
          model.resize(model.size() + n);
          break;
        }
        case 1: {
          std::vector<std::int32_t> parents;
          std::vector<Row> chosen;
          const std::size_t rows = model.empty() ? 0 : random.below(6);
          for (std::size_t i = 0; i < rows; ++i) {
            parents.push_back(static_cast<std::int32_t>(random.below(model.size())));
            chosen.push_back(model[static_cast<std::size_t>(parents.back())]);
          }
          cache.reorder(parents);
          model = chosen;
          break;
        }
        default: {
          std::vector<std::int32_t> counts;
          for (std::size_t r = 0; r < model.size(); ++r)
            counts.push_back(static_cast<std::int32_t>(random.below(10) == 0 ? 50 : random.below(3)));
          extend(c, cache, model, counts, next);
        }
      }
      expect_same(cache, model);
      if (HasFatalFailure()) return;
    }
    cache.reorder({});
    EXPECT_EQ(cache.used_slots(), 0) << "every slot is returned";
  }
}

TEST(KvCache, HeldSlotsOutliveTheirRowsAndBeginOthers) {
  Arena arena;
  Context c(arena);
  KvCache cache(c, of_tokens);
  std::vector<Row> model(1);
  std::int32_t next = 0;
  cache.add_rows(1);
  extend(c, cache, model, {9}, next);
  const Row whole = model[0];
  const std::vector<std::int32_t> held = cache.hold(0, 0, 4), later = cache.hold(0, 4, 6);
  cache.reorder({});
  EXPECT_EQ(cache.used_slots(), 6);
  cache.add_row(held);  // two rows continue the same prefix differently
  cache.add_row(held);
  model.assign(2, Row(whole.begin(), whole.begin() + 4));
  extend(c, cache, model, {3, 5}, next);
  EXPECT_EQ(cache.used_slots(), 6 + 3 + 5);
  cache.let_go(later);
  expect_same(cache, model);
  cache.let_go(held);
  expect_same(cache, model);
  EXPECT_EQ(cache.used_slots(), 4 + 3 + 5);
  EXPECT_THROW(cache.hold(0, 3, 8), Error);
  EXPECT_THROW(cache.hold(2, 0, 1), Error);
  cache.reorder({});
  EXPECT_EQ(cache.used_slots(), 0);
  cache.configure({.window = 4});
  cache.add_rows(1);
  EXPECT_THROW(cache.hold(0, 0, 0), Error);
}

// A row has one state in each layer that keeps one: zeros at first, and a copy of its own when it is forked. Other layers
// keep its tokens beside it.
void expect_states_to_part(const std::vector<KvCache::Layer>& kept) {
  Arena arena;
  Context c(arena);
  KvCache cache(c, kept);
  ASSERT_TRUE(cache.keeps_states());
  RandomSequence random(5, 1);
  using Sums = std::vector<std::vector<float>>;  // by layer: what was added to a row's state so far
  Sums none;
  for (const KvCache::Layer& layer : kept) none.emplace_back(static_cast<std::size_t>(layer.state_size), 0.0f);
  std::vector<Sums> sums;
  std::vector<std::int32_t> read;
  for (int step = 0; step < 300; ++step) {
    if (random.below(4) == 0) {
      cache.add_rows(2);
      sums.resize(sums.size() + 2, none);
      read.resize(sums.size(), 0);
    }
    if (random.below(3) == 0 && !sums.empty()) {  // some fork, some end
      std::vector<std::int32_t> parents(random.below(6));
      for (auto& p : parents) p = static_cast<std::int32_t>(random.below(sums.size()));
      cache.reorder(parents);
      const auto sums_before = sums;
      const auto read_before = read;
      sums.resize(parents.size()), read.resize(parents.size());
      for (std::size_t r = 0; r < parents.size(); ++r)
        sums[r] = sums_before[static_cast<std::size_t>(parents[r])],
        read[r] = read_before[static_cast<std::size_t>(parents[r])];
    }
    if (random.below(5) == 0 && !sums.empty()) {  // one starts afresh
      const std::size_t r = random.below(sums.size());
      cache.truncate(static_cast<std::int64_t>(r), 0);
      sums[r] = none, read[r] = 0;
    }
    std::vector<std::int32_t> counts;
    std::int32_t tokens = 0;
    for (std::size_t r = 0; r < sums.size(); ++r)
      counts.push_back(static_cast<std::int32_t>(random.below(3))), read[r] += counts[r], tokens += counts[r];
    EXPECT_EQ(std::ssize(cache.extend(counts)), cache.keeps_tokens() ? tokens : 0);
    std::set<std::int32_t> slots;
    for (std::size_t r = 0; r < sums.size(); ++r) {
      const auto row = static_cast<std::int64_t>(r);
      ASSERT_EQ(cache.length(row), read[r]);
      ASSERT_EQ(std::ssize(cache.slots(row)), cache.keeps_tokens() ? read[r] : 0);
      const std::int32_t slot = cache.state(row);
      ASSERT_EQ(slot >= 0, read[r] > 0);
      if (slot < 0) continue;
      if (counts[r] > 0) {
        EXPECT_FALSE(slots.contains(slot)) << "whose state is written to";
      }
      slots.insert(slot);
      for (std::size_t l = 0; l < kept.size(); ++l) {
        ASSERT_EQ(cache.keeps_state(static_cast<std::int64_t>(l)), kept[l].state_size > 0);
        if (kept[l].state_size == 0) continue;
        const Tensor state =
            cache.states(static_cast<std::int64_t>(l)).rows(slot, slot + 1).reshape({kept[l].state_size});
        std::vector<float> values = host_copy<float>(state);
        for (std::size_t i = 0; i < values.size(); ++i) {
          float& sum = sums[r][l][i];
          ASSERT_EQ(values[i], sum) << "row " << r << " at step " << step;
          if (counts[r] > 0) sum = values[i] += static_cast<float>(step) + static_cast<float>(i);
        }
        host_write<float>(state, values);
      }
    }
    EXPECT_EQ(cache.used_states(), std::ssize(slots));
  }
  cache.reorder({});
  EXPECT_EQ(cache.used_states(), 0);
  EXPECT_EQ(cache.used_slots(), 0);

  cache.add_rows(1);
  cache.extend(std::vector<std::int32_t>{3});
  cache.truncate(0, 3);
  EXPECT_THROW(cache.truncate(0, 2), Error) << "nothing is taken back";
  EXPECT_THROW(cache.hold(0, 0, 2), Error);
  cache.reorder({});
}

TEST(KvCache, StatesAreCopiedWhereRowsPart) {
  const KvCache::Layer tokens = of_tokens[0], state{.state_size = 3}, other{.state_size = 7};
  expect_states_to_part({state, state});
  expect_states_to_part({state, tokens, other});
}

// A window and 8 bits are for tokens. States are as they are.
TEST(KvCache, StatesAloneHaveNoWindow) {
  Arena arena;
  Context c(arena);
  KvCache states(c, {{.state_size = 3}}), both(c, {{.state_size = 3}, of_tokens[0]});
  EXPECT_THROW(states.configure({.window = 4}), Error);
  EXPECT_THROW(states.configure({.precision = KvCache::Precision::int8}), Error);
  both.configure({.precision = KvCache::Precision::int8, .window = 4});
  both.add_rows(1);
  for (int i = 0; i < 3; ++i) both.extend(std::vector<std::int32_t>{3});
  EXPECT_EQ(both.length(0), 9);
  EXPECT_EQ(both.slots(0).size(), 6u) << "the last three, and three before them";
  EXPECT_EQ(both.states(0).dtype(), DType::f32);
  EXPECT_EQ(both.keys(1).dtype(), DType::i8);
  EXPECT_THROW(both.store(c, 0, c.zeros({3, key_size}), c.zeros({3, value_size})), Error);
}

// As layers with attention and a recurrence side by side, and layers without either, need it.
TEST(KvCache, ALayerKeepsTokensAndAStateOrNothing) {
  Arena arena;
  Context c(arena);
  KvCache both(c, {{.key_size = key_size, .value_size = value_size, .state_size = 3}});
  EXPECT_TRUE(both.keeps_tokens() && both.keeps_states());
  both.add_rows(1);
  both.extend(std::vector<std::int32_t>{2});
  both.store(c, 0, c.upload<float>(std::vector<float>{1, 2, 3, 4, 5, 6}, {2, key_size}), c.zeros({2, value_size}));
  EXPECT_EQ(both.slots(0).size(), 2u);
  EXPECT_EQ(host_copy<float>(both.keys(0).rows(both.slots(0)[1], both.slots(0)[1] + 1)), (std::vector<float>{4, 5, 6}));
  EXPECT_EQ(host_copy<float>(both.states(0).rows(both.state(0), both.state(0) + 1)), std::vector<float>(3, 0.0f));
  both.reorder(std::vector<std::int32_t>{0, 0});
  EXPECT_EQ(both.slots(0), both.slots(1));
  EXPECT_EQ(both.state(0), both.state(1));

  const KvCache nothing(c, {{.num_kv_heads = 0}, {.state_size = 3}});
  EXPECT_TRUE(!nothing.keeps_tokens() && nothing.keeps_states());
}

TEST(KvCache, ErrorsLeaveItAsItWas) {
  Arena arena;
  Context c(arena);
  KvCache cache(c, of_tokens);
  std::vector<Row> model(2);
  std::int32_t next = 0;
  cache.add_rows(2);
  extend(c, cache, model, {2, 1}, next);
  EXPECT_THROW(cache.reorder(std::vector<std::int32_t>{0, 2}), Error);
  EXPECT_THROW(cache.reorder(std::vector<std::int32_t>{1, -1}), Error);
  EXPECT_THROW(cache.extend(std::vector<std::int32_t>{1}), Error);
  EXPECT_THROW(cache.extend(std::vector<std::int32_t>{1, -1}), Error);
  EXPECT_THROW(cache.store(c, 0, c.zeros({3, 1}), c.zeros({3, value_size})), Error);
  expect_same(cache, model);
}

// If memory runs out while it grows, its contents stay intact and usable.
TEST(KvCache, SurvivesTheEndOfMemory) {
  Arena arena(std::size_t{1} << 17);
  Context c(arena);
  KvCache cache(c, of_tokens);
  std::vector<Row> model(1);
  std::int32_t next = 0;
  cache.add_rows(1);
  extend(c, cache, model, {9}, next);
  std::int32_t failed = 0;
  for (const std::int32_t count : {1'900, 2'100, 2'300, 2'500, 3'000, 100'000}) {
    cache.add_rows(1);
    EXPECT_THROW(
        {
          cache.extend(std::vector<std::int32_t>{0, count});
          cache.extend(std::vector<std::int32_t>{0, 100'000});
        },
        Error);
    ++failed;
    cache.reorder(std::vector<std::int32_t>{0});
    extend(c, cache, model, {3}, next);
    expect_same(cache, model);
  }
  EXPECT_EQ(failed, 6);
}

}  // namespace
}  // namespace tril::nn
