// Self-attention through a cache equals self-attention over the whole text, however the tokens are split.
#include "nn/attention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/rng.h"
#include "support/watcher.h"

namespace tril::nn {
namespace {

using Projections = Attention::Projections;

struct Made {
  Parameters p;
  Attention attention;
  Arena arena;
  Context c{arena};
  std::int64_t d_model;

  explicit Made(const Attention::Options& o) : attention(p, "layer.self_attn", o), d_model(o.d_model) {
    p.allocate();
    p.initialise(3);
    p.refresh(c.kernels());
  }
  std::unique_ptr<KvCache> cache(const KvCache::Options& options = {}) {
    auto made = std::make_unique<KvCache>(c, std::vector{attention.kept()});
    made->configure(options);
    return made;
  }
  std::vector<float> token(std::uint64_t number) const {
    RandomSequence random(5, number);
    std::vector<float> x;
    for (std::int64_t i = 0; i < d_model; ++i) x.push_back(static_cast<float>(random.normal()));
    return x;
  }
  Tensor upload(const std::vector<std::uint64_t>& tokens) {
    std::vector<float> x;
    for (std::uint64_t t : tokens)
      for (float v : token(t)) x.push_back(v);
    return c.upload<float>(x, {static_cast<std::int64_t>(tokens.size()), d_model});
  }
  // All at once, no cache: the last `count` tokens' results.
  std::vector<float> whole(const std::vector<std::uint64_t>& tokens, std::int64_t count,
                           const ops::Mask& mask = ops::Mask::causal()) {
    const auto N = static_cast<std::int64_t>(tokens.size());
    const SelfCall call(c, Rows::rectangle(1, N), mask);
    return host_copy<float>(attention.self(c, upload(tokens), call, 0).rows(N - count, N));
  }
};

void expect_near(const std::vector<float>& got, const std::vector<float>& expected, double tolerance = 3e-5) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], expected[i], tolerance) << i;
}

const Attention::Options kinds[] = {
    {.d_model = 12, .num_heads = 3},
    {.d_model = 12, .num_heads = 3, .projections = Projections::qkv},
    {.d_model = 16, .num_heads = 4, .num_kv_heads = 2},
    {.d_model = 16, .num_heads = 4, .num_kv_heads = 1, .projections = Projections::qkv, .bias = false},
    {.d_model = 10, .num_heads = 2, .d_k = 4, .d_v = 7, .projections = Projections::qkv},
    {.d_model = 10, .num_heads = 2, .d_k = 4, .d_v = 7},
    {.d_model = 16, .num_heads = 4, .num_kv_heads = 2, .gate = "gate_proj"},
    {.d_model = 10, .num_heads = 2, .d_k = 4, .d_v = 7, .gate = "gate_proj", .gates_values = true},
};

// Rows grow by random numbers of tokens at once; sometimes they fork, reorder, leave, join, or are truncated.
void feed_in_any_way(const KvCache::Options& kept, bool watched = false) {
  const ops::Mask mask = ops::Mask::causal(kept.window, kept.sinks);
  const double tolerance = kept.precision == KvCache::Precision::int8 ? 0.05 : 3e-5;
  for (const Attention::Options& o : kinds)
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      Made m(o);
      const auto cache = m.cache(kept);
      RandomSequence random(seed, 1);
      std::vector<std::vector<std::uint64_t>> rows(2);
      cache->add_rows(2);
      std::uint64_t next = 0;
      for (int step = 0; step < 14; ++step) {
        if (step % 4 == 3) {
          std::vector<std::int32_t> parents;
          std::vector<std::vector<std::uint64_t>> chosen;
          for (std::size_t i = 0; i < 1 + random.below(4); ++i) {
            parents.push_back(static_cast<std::int32_t>(random.below(rows.size())));
            chosen.push_back(rows[static_cast<std::size_t>(parents.back())]);
          }
          cache->reorder(parents);
          rows = chosen;
          cache->add_rows(1);
          rows.emplace_back();
        }
        Rows call_rows;
        std::vector<std::uint64_t> tokens;
        const bool one_each = step % 2 == 0;
        for (auto& row : rows) {
          const std::size_t n = one_each ? 1 : random.below(step % 3 == 0 ? 9 : 4);
          call_rows.append(static_cast<std::int32_t>(n), static_cast<std::int32_t>(row.size()));
          for (std::size_t i = 0; i < n; ++i) tokens.push_back(next), row.push_back(next++);
        }
        std::optional<Watcher> watcher;
        if (watched) watcher.emplace(m.c, "weights", [](const std::string&, const Tensor&) {});
        const SelfCall call(m.c, call_rows, mask, {.cache = cache.get()});
        const Tensor y = m.attention.self(m.c, m.upload(tokens), call, 0);
        watcher.reset();
        for (std::int64_t r = 0; r < call_rows.count(); ++r) {
          auto& row = rows[static_cast<std::size_t>(r)];
          const std::int32_t n = call_rows.length(r);
          if (n == 0) continue;
          expect_near(host_copy<float>(y.rows(call_rows.begin(r), call_rows.end(r))), m.whole(row, n, mask), tolerance);
          if (kept.window > 0) {
            EXPECT_LE(cache->slots(r).size(), static_cast<std::size_t>(kept.sinks + kept.window - 1 + n));
          }
          const auto cut = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(n) + 1));
          row.resize(row.size() - static_cast<std::size_t>(cut));
          cache->truncate(r, static_cast<std::int32_t>(row.size()));
        }
        if (testing::Test::HasFailure()) return;
      }
    }
}

TEST(CachedSelfAttention, AnyWayOfFeedingEqualsTheWhole) {
  feed_in_any_way({});
  feed_in_any_way({}, true);
}

TEST(CachedSelfAttention, SoDoWindowsAndSinks) {
  // A layer with a narrower window of its own has no sinks; one with a wider window uses the call's window and sinks.
  for (const std::int32_t own : {2, 5, 9}) {
    const Attention::Options o{.d_model = 12, .num_heads = 2, .window = own};
    Made m(o);
    for (const bool watched : {false, true}) {
      const auto cache = m.cache({.window = 5, .sinks = 2});
      cache->add_rows(1);
      std::vector<std::uint64_t> row;
      for (std::uint64_t t = 0; t < 12; ++t) {
        row.push_back(t);
        Rows rows;
        rows.append(1, static_cast<std::int32_t>(t));
        const ops::Mask mask = ops::Mask::causal(5, 2);
        std::optional<Watcher> watcher;
        if (watched) watcher.emplace(m.c, "weights", [](const std::string&, const Tensor&) {});
        const SelfCall call(m.c, rows, mask, {.cache = cache.get()});
        const Tensor y = m.attention.self(m.c, m.upload({t}), call, 0);
        watcher.reset();
        expect_near(host_copy<float>(y), m.whole(row, 1, mask), 3e-5);
        if (own == 2) expect_near(host_copy<float>(y), m.whole(row, 1, ops::Mask::causal(2, 0)), 3e-5);
      }
    }
  }
  for (const auto& [window, sinks] : {std::pair{1, 0}, {3, 0}, {3, 2}, {6, 1}, {2, 4}, {1, 1}}) {
    feed_in_any_way({.window = window, .sinks = sinks});
    feed_in_any_way({.window = window, .sinks = sinks}, true);
  }
}

TEST(CachedSelfAttention, EightBitsAreNearTheWhole) {
  feed_in_any_way({.precision = KvCache::Precision::int8});
  feed_in_any_way({.precision = KvCache::Precision::int8, .window = 5, .sinks = 2});
}

TEST(KvCache, AWindowTakesConstantMemory) {
  Made m(kinds[0]);
  const auto cache = m.cache({.window = 20, .sinks = 4});
  cache->add_rows(2);
  for (int t = 0; t < 3000; ++t) {
    cache->extend(std::vector<std::int32_t>{1, t % 7});
    EXPECT_LE(cache->used_slots(), 2 * (20 + 4 - 1) + 7);
  }
  EXPECT_EQ(cache->length(0), 3000);
  EXPECT_EQ(cache->slots(0).size(), 24u);
  EXPECT_LE(cache->capacity(), 64);
  EXPECT_THROW(cache->truncate(0, 2990), Error) << "what the window has left behind is gone";
  EXPECT_THROW(cache->configure({}), Error) << "there are rows";
  cache->truncate(0, 2999);
  cache->reorder({});
  EXPECT_EQ(cache->used_slots(), 0);
}

TEST(CachedSelfAttention, AWindowHoldsThroughTheCache) {
  Made m(kinds[0]);
  const auto cache = m.cache();
  cache->add_rows(1);
  std::vector<std::uint64_t> tokens;
  for (std::uint64_t t = 0; t < 8; ++t) {
    tokens.push_back(t);
    Rows row;
    row.append(1, static_cast<std::int32_t>(t));
    const SelfCall call(m.c, row, ops::Mask::causal(3), {.cache = cache.get()});
    const auto got = host_copy<float>(m.attention.self(m.c, m.upload({t}), call, 0));
    const auto N = static_cast<std::int64_t>(tokens.size());
    const SelfCall all(m.c, Rows::rectangle(1, N), ops::Mask::causal(3));
    expect_near(got, host_copy<float>(m.attention.self(m.c, m.upload(tokens), all, 0).rows(N - 1, N)));
  }
}

TEST(CachedSelfAttention, Errors) {
  Made m(kinds[0]);
  const auto cache = m.cache();
  cache->add_rows(1);
  EXPECT_THROW(SelfCall(m.c, Rows::rectangle(2, 1), ops::Mask::causal(), {.cache = cache.get()}), Error)
      << "two rows for a cache of one";
  EXPECT_THROW(SelfCall(m.c, Rows::rectangle(1, 1), ops::Mask::full(), {.cache = cache.get()}), Error)
      << "a cache is causal";
  Rows later;
  later.append(1, 3);
  EXPECT_THROW(SelfCall(m.c, later, ops::Mask::causal(), {.cache = cache.get()}), Error)
      << "from position 3 with nothing before";
  Tape tape;
  m.c.set_tape(&tape);
  EXPECT_THROW(SelfCall(m.c, Rows::rectangle(1, 1), ops::Mask::causal(), {.cache = cache.get()}), Error)
      << "no gradients through a cache";
  m.c.set_tape(nullptr);
  EXPECT_EQ(cache->length(0), 0) << "and nothing was added";
  Parameters p;
  EXPECT_THROW(Attention(p, "a", {.d_model = 10, .num_heads = 3}), Error);
  EXPECT_THROW(Attention(p, "b", {.d_model = 12, .num_heads = 3, .num_kv_heads = 2}), Error);
}

// q_kv is the cross-attention's fused form: the same weights stored separately give the same numbers.
TEST(CrossAttention, FusedKeysAndValuesEqualSeparateOnes) {
  Made fused({.d_model = 12, .num_heads = 3, .projections = Projections::q_kv}), apart({.d_model = 12, .num_heads = 3});
  const auto kv = host_copy<float>(fused.p.find("layer.self_attn.kv_proj.weight")->value);
  const auto half = static_cast<std::ptrdiff_t>(kv.size() / 2);
  host_write<float>(apart.p.find("layer.self_attn.k_proj.weight")->value,
                    std::vector<float>(kv.begin(), kv.begin() + half));
  host_write<float>(apart.p.find("layer.self_attn.v_proj.weight")->value,
                    std::vector<float>(kv.begin() + half, kv.end()));
  for (const char* same : {"layer.self_attn.q_proj.weight", "layer.self_attn.out_proj.weight"})
    host_write<float>(apart.p.find(same)->value, host_copy<float>(fused.p.find(same)->value));
  apart.p.refresh(apart.c.kernels());
  const std::vector<std::int32_t> q_lengths{2, 3}, k_lengths{4, 1};
  const Rows q = Rows::of_lengths(q_lengths), k = Rows::of_lengths(k_lengths);
  std::vector<float> results[2];
  for (Made* m : {&fused, &apart}) {
    const Tensor x = m->upload({1, 2, 3, 4, 5}), memory = m->upload({6, 7, 8, 9, 10});
    const CrossCall call{ops::spans_of(q, k), ops::Mask::full()};
    results[m == &apart] =
        host_copy<float>(m->attention.cross(m->c, x, m->attention.keys_values(m->c, memory), {call, 0}));
  }
  expect_near(results[0], results[1]);
}

// However they are stored, queries, keys and values are initialised like a single matrix.
TEST(Attention, ProjectionsBeginAsPartsOfOneMatrix) {
  const double bound = std::sqrt(6.0 / (48 + 3 * 48));
  for (const Projections kept : {Projections::separate, Projections::qkv, Projections::q_kv}) {
    const Made m({.d_model = 48, .num_heads = 4, .projections = kept});
    for (const Parameter& w : m.p.all()) {
      if (w.shape.rank() != 2 || w.name.ends_with("out_proj.weight")) continue;
      SCOPED_TRACE(w.name);
      double largest = 0, squares = 0;
      for (const float v : host_copy<float>(w.value)) {
        largest = std::max(largest, std::fabs(double{v}));
        squares += double{v} * v;
      }
      EXPECT_LE(largest, bound * (1 + 1e-6));
      EXPECT_NEAR(std::sqrt(squares / static_cast<double>(w.shape.count())), bound / std::sqrt(3.0), 0.03 * bound);
    }
  }
}

}  // namespace
}  // namespace tril::nn
