// Attention over a cache of every instruction set against plain loops in double: one query and many, windows and sinks,
// grouped heads, a bias by distance, float32 and 8 bits.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "base/half.h"
#include "kern/attention.h"
#include "kern/batch_invariant.h"
#include "kern/support.h"

namespace tril::kern::cached_attention_test {
namespace {

struct Sizes {
  std::size_t heads, kv_heads, d_k, d_v;
};
struct Kept {
  std::int32_t window, sinks;
};

// Rows of queries over keys in permuted slots.
struct Data {
  std::vector<std::int32_t> lengths{1, 15, 2, 65, 130, 257, 300, 3, 129, 5, 70, 200},
      queries{1, 1, 2, 3, 17, 65, 130, 0, 129, 5, 33, 2};
  std::size_t k_stride, v_stride, total = 0, tokens = 0;
  std::vector<std::int32_t> slot;
  std::vector<const std::int32_t*> slots;
  Floats32 q, keys, values, key_scales, value_scales, bias;
  Guarded<std::int8_t> keys8, values8;
  CachedAttention a;

  static constexpr std::size_t most_keys = 300, most_queries = 130;

  Data(const Sizes& s, Kept kept, bool int8, std::size_t slack, bool biased = false)
      : k_stride(s.kv_heads * s.d_k + (int8 ? 0 : slack)),
        v_stride(s.kv_heads * s.d_v),
        total(static_cast<std::size_t>(std::accumulate(lengths.begin(), lengths.end(), 0))),
        tokens(static_cast<std::size_t>(std::accumulate(queries.begin(), queries.end(), 0))),
        slot(total),
        q(tokens * (s.heads * s.d_k + 1), slack),
        keys(total * k_stride, slack),
        values(total * v_stride, slack),
        key_scales(total * s.kv_heads, slack),
        value_scales(total * s.kv_heads, slack),
        bias(biased ? s.heads * (most_keys + most_queries - 1) : 0, slack),
        keys8(total * k_stride, slack),
        values8(total * v_stride, slack) {
    std::iota(slot.begin(), slot.end(), 0);
    RandomSequence random(3, 4);
    for (std::size_t i = total; i > 1; --i) std::swap(slot[i - 1], slot[random.below(i)]);
    for (std::size_t r = 0, at = 0; r < lengths.size(); at += static_cast<std::size_t>(lengths[r++]))
      slots.push_back(slot.data() + at);
    fill_normal(q, 1), fill_normal(keys, 2), fill_normal(values, 3);
    a.q = q.data(), a.q_stride = s.heads * s.d_k + 1, a.k_stride = k_stride, a.v_stride = v_stride;
    a.slots = slots.data(), a.lengths = lengths.data(), a.queries = queries.data(), a.num_rows = slots.size();
    a.heads = s.heads, a.kv_heads = s.kv_heads, a.d_k = s.d_k, a.d_v = s.d_v, a.scale = 0.3f;
    a.window = kept.window, a.sinks = kept.sinks;
    fill_normal(bias, 5);
    if (biased) a.bias = {bias.data() + most_keys - 1, most_keys + most_queries - 1};
    if (!int8) {
      a.k = keys.data(), a.v = values.data();
      return;
    }
    for (std::size_t i = 0; i < keys8.size(); ++i) keys8[i] = static_cast<std::int8_t>(random.below(255));
    for (std::size_t i = 0; i < values8.size(); ++i) values8[i] = static_cast<std::int8_t>(random.below(255));
    for (std::size_t i = 0; i < key_scales.size(); ++i) {
      key_scales[i] = static_cast<float>(0.01 + 0.01 * random.uniform());
      value_scales[i] = static_cast<float>(0.01 + 0.01 * random.uniform());
    }
    a.k8 = keys8.data(), a.v8 = values8.data();
    a.k_scales = key_scales.data(), a.v_scales = value_scales.data(), a.scale_stride = a.kv_heads;
  }

  double key(std::size_t at, std::size_t g, std::size_t c) const {
    const std::size_t i = at * k_stride + g * a.d_k + c;
    return a.k ? static_cast<double>(a.k[i])
               : static_cast<double>(a.k8[i]) * static_cast<double>(a.k_scales[at * a.kv_heads + g]);
  }
  double value(std::size_t at, std::size_t g, std::size_t c) const {
    const std::size_t i = at * v_stride + g * a.d_v + c;
    return a.v ? static_cast<double>(a.v[i])
               : static_cast<double>(a.v8[i]) * static_cast<double>(a.v_scales[at * a.kv_heads + g]);
  }
  bool sees(int query, int key) const {
    return key <= query && (a.window == 0 || key > query - a.window || key < a.sinks);
  }

  /// @param rounded  operands of rows with more than three queries are rounded to bfloat16, but for the weights
  std::vector<double> twin(bool rounded = false) const {
    std::vector<double> out;
    std::size_t token = 0;
    for (std::size_t r = 0; r < lengths.size(); ++r) {
      const auto operand = [&](double x) {
        return rounded && queries[r] > 3 ? static_cast<double>(bf16_to_f32(f32_to_bf16(static_cast<float>(x)))) : x;
      };
      for (int i = lengths[r] - queries[r]; i < lengths[r]; ++i, ++token)
        for (std::size_t h = 0; h < a.heads; ++h) {
          const std::size_t g = h / (a.heads / a.kv_heads);
          std::vector<double> p(static_cast<std::size_t>(i) + 1), y(a.d_v);
          double sum = 0;
          for (int j = 0; j <= i; ++j) {
            double s = 0;
            for (std::size_t c = 0; c < a.d_k; ++c)
              s += operand(static_cast<double>(a.q[token * a.q_stride + h * a.d_k + c])) *
                   operand(key(static_cast<std::size_t>(slots[r][j]), g, c));
            s *= static_cast<double>(a.scale);
            if (a.softcap > 0) s = static_cast<double>(a.softcap) * std::tanh(s / static_cast<double>(a.softcap));
            if (a.bias)
              s += static_cast<double>(bias[h * a.bias.stride + most_keys - 1 - static_cast<std::size_t>(i - j)]);
            sum += p[static_cast<std::size_t>(j)] = sees(i, j) ? std::exp(s) : 0;
          }
          if (a.sink_logits) sum += std::exp(static_cast<double>(a.sink_logits[h]));
          for (int j = 0; j <= i; ++j)
            for (std::size_t c = 0; c < a.d_v; ++c)
              y[c] +=
                  p[static_cast<std::size_t>(j)] / sum * operand(value(static_cast<std::size_t>(slots[r][j]), g, c));
          out.insert(out.end(), y.begin(), y.end());
        }
    }
    return out;
  }
};

class CachedAttentionTest : public KernelTest {};
INSTANTIATE_TEST_SUITE_P(Tables, CachedAttentionTest, every_table(), table_name);

// All tables of this processor are compared with one definition, which takes most of the time.
TEST(CachedAttentionDefinition, IsMatchedByEveryTable) {
  std::size_t n = 0;
  for (const Sizes& s : {Sizes{1, 1, 1, 1},
                         {4, 4, 3, 8},
                         {4, 2, 8, 5},
                         {4, 1, 20, 31},
                         {2, 2, 33, 32},
                         {4, 2, 64, 64},
                         {2, 1, 80, 17},
                         {7, 1, 64, 70}})
    for (const Kept kept : {Kept{0, 0}, {1, 0}, {7, 2}, {40, 4}, {130, 0}, {100, 150}})
      for (const bool int8 : {false, true}) {
        const std::size_t slack = n++ % 4;
        const bool biased = n % 3 == 0;
        Data d(s, kept, int8, slack, biased);
        d.a.softcap = n % 3 == 1 ? 0.8f : 0.0f;
        const std::vector<float> sinks{0.5f, -1, 2, 0, 1, -2, 3};
        if (n % 2 == 0) d.a.sink_logits = sinks.data();
        const std::string name = "d_k " + std::to_string(s.d_k) + " window " + std::to_string(kept.window) + " sinks " +
                                 std::to_string(kept.sinks) + (int8 ? " int8" : "") + (biased ? " bias" : "") +
                                 (d.a.softcap > 0 ? " cap" : "");
        const std::size_t width = s.heads * s.d_v, stride = width + 1;
        std::vector<double> expected;
        const std::vector<double> twin = d.twin();
        for (std::size_t i = 0; i < d.tokens; ++i) {
          expected.insert(expected.end(), twin.begin() + static_cast<long>(i * width),
                          twin.begin() + static_cast<long>((i + 1) * width));
          expected.push_back(7.0);
        }
        for (const Kernels* k : tables()) {
          SCOPED_TRACE(k->name);
          Floats32 out(d.tokens * stride, slack), scratch(k->cached_attention_scratch(d.a), slack);
          std::fill_n(out.data(), out.size(), 7.0f);
          k->cached_attention(d.a, out, stride, scratch);
          expect_close(out, expected, 2e-5, name);
          EXPECT_TRUE(scratch.intact()) << name << ": scratch overrun";
          if (testing::Test::HasFailure()) return;
        }
      }
}

// By tiles of AMX, operands are rounded to bfloat16; all other tables compute in float32, to the same bits as without the permission.
TEST(CachedAttentionDefinition, IsMatchedInMixedPrecision) {
  std::size_t n = 0;
  for (const Sizes& s :
       {Sizes{4, 2, 8, 5}, {4, 1, 20, 31}, {2, 2, 33, 32}, {4, 2, 64, 64}, {2, 1, 80, 17}, {3, 1, 128, 96}})
    for (const Kept kept : {Kept{0, 0}, {7, 2}, {130, 0}, {100, 150}})
      for (const bool int8 : {false, true}) {
        const std::size_t slack = n++ % 4;
        Data d(s, kept, int8, slack, n % 3 == 0);
        d.a.softcap = n % 3 == 1 ? 0.8f : 0.0f;
        const std::vector<float> sinks{0.5f, -1, 2, 0};
        if (n % 2 == 0) d.a.sink_logits = sinks.data();
        const std::size_t width = s.heads * s.d_v;
        const std::vector<double> twin = d.twin(/*rounded=*/true);
        for (const Kernels* k : tables()) {
          SCOPED_TRACE(fmt::format("{}: d_k {}, window {}, int8 {}", k->name, s.d_k, kept.window, int8));
          Floats32 plain(d.tokens * width, slack), mixed(d.tokens * width, slack), invariant(d.tokens * width, slack);
          const auto compute = [&](const Kernels& table, bool bf16, Floats32& out) {
            d.a.bf16 = bf16;
            Floats32 scratch(table.cached_attention_scratch(d.a), slack);
            table.cached_attention(d.a, out, width, scratch);
            EXPECT_TRUE(scratch.intact()) << "scratch overrun";
          };
          compute(*k, false, plain);
          compute(*k, true, mixed);
          // What does not depend on the batch may not depend on the number of queries either.
          compute(batch_invariant(*k), true, invariant);
          EXPECT_EQ(std::memcmp(plain, invariant, plain.size() * sizeof(float)), 0);
          if (k->name != "amx") {
            EXPECT_EQ(std::memcmp(plain, mixed, plain.size() * sizeof(float)), 0);
            continue;
          }
          // Only the weights, whose sum is 1, are rounded beyond the twin: each by 2^-9 of itself. Values are below 4.
          for (std::size_t i = 0; i < mixed.size(); ++i) ASSERT_NEAR(mixed[i], twin[i], 4 * 0x1p-9) << i;
          if (testing::Test::HasFailure()) return;
        }
      }
}

TEST_P(CachedAttentionTest, AHeadAloneHasTheBitsThatItHasAmongThoseOfItsKeys) {
  for (const Sizes& s : {Sizes{7, 1, 64, 64}, {6, 2, 33, 70}, {8, 2, 20, 128}})
    for (const bool int8 : {false, true}) {
      const Data d(s, {0, 0}, int8, 1, false);
      const std::size_t width = s.heads * s.d_v;
      Floats32 together(d.tokens * width), alone(d.tokens * width), scratch(k.cached_attention_scratch(d.a));
      k.cached_attention(d.a, together, width, scratch);
      for (std::size_t h = 0; h < s.heads; ++h) {
        const std::size_t g = h / (s.heads / s.kv_heads);
        CachedAttention one = d.a;
        one.heads = one.kv_heads = 1;
        one.q += h * s.d_k;
        if (int8)
          one.k8 += g * s.d_k, one.v8 += g * s.d_v, one.k_scales += g, one.v_scales += g;
        else
          one.k += g * s.d_k, one.v += g * s.d_v;
        k.cached_attention(one, alone, width, scratch);
        for (std::size_t i = 0; i < d.tokens; ++i)
          for (std::size_t c = 0; c < s.d_v; ++c)
            ASSERT_EQ(alone[i * width + c], together[i * width + h * s.d_v + c]) << h << ", " << int8;
      }
    }
}

// As proposals are verified: the same bits as in steps of one token. More than 32 are a chunk of a prompt.
TEST_P(CachedAttentionTest, GeneratedQueriesHaveTheBitsThatEachHasAlone) {
  for (const Kept kept : {Kept{0, 0}, {40, 4}})
    for (const bool int8 : {false, true}) {
      Data d({4, 2, 32, 32}, kept, int8, 1);
      Floats32 plain(d.tokens * 128), together(d.tokens * 128), alone(128);
      Floats32 scratch(k.cached_attention_scratch(d.a));
      k.cached_attention(d.a, plain, 128, scratch);
      const std::vector<std::uint8_t> generated(d.slots.size(), 1);
      d.a.generated = generated.data();
      Floats32 more(k.cached_attention_scratch(d.a));
      k.cached_attention(d.a, together, 128, more);
      for (std::size_t r = 0, token = 0; r < d.slots.size(); ++r)
        for (std::int32_t i = 0; i < d.queries[r]; ++i, ++token) {
          const std::int32_t length = d.lengths[r] - d.queries[r] + i + 1, single = 1;
          CachedAttention one = d.a;
          one.q += token * one.q_stride, one.slots += r, one.lengths = &length, one.queries = &single;
          one.num_rows = 1;
          k.cached_attention(one, alone, 128, more);
          const float* const expected = d.queries[r] <= 32 ? alone.data() : plain.data() + token * 128;
          for (std::size_t c = 0; c < 128; ++c) ASSERT_EQ(together[token * 128 + c], expected[c]) << r << ", " << i;
        }
    }
}

TEST_P(CachedAttentionTest, ARowDoesNotDependOnTheOthers) {
  const Data d({4, 2, 32, 32}, {40, 4}, false, 1);
  Floats32 together(d.tokens * 128), alone(d.tokens * 128), scratch(k.cached_attention_scratch(d.a));
  k.cached_attention(d.a, together, 128, scratch);
  for (std::size_t r = 0, token = 0; r < d.slots.size(); token += static_cast<std::size_t>(d.queries[r++])) {
    CachedAttention one = d.a;
    one.q += token * one.q_stride, one.slots += r, one.lengths += r, one.queries += r, one.num_rows = 1;
    k.cached_attention(one, alone + token * 128, 128, scratch);
  }
  for (std::size_t i = 0; i < together.size(); ++i) ASSERT_EQ(together[i], alone[i]) << i;
}

TEST_P(CachedAttentionTest, WhatIsNoNumberStaysNone) {
  for (const std::size_t d : {std::size_t{3}, std::size_t{16}, std::size_t{64}, std::size_t{70}})
    for (const std::size_t bad : {std::size_t{0}, d / 2, d - 1})
      for (const float value : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
        Floats32 x(d, 1), scales(1, 1);
        Guarded<std::int8_t> to(d, 1);
        fill_normal(x, d);
        x[bad] = value;
        const std::int32_t slot = 0;
        QuantizeSlots a{.x = x.data(), .x_stride = d, .rows = 1, .heads = 1, .d = d};
        a.slots = &slot, a.to = to.data(), a.scales = scales.data();
        k.quantize_slots(a);
        EXPECT_FALSE(std::isfinite(scales[0])) << d << ", at " << bad;
      }
}

TEST_P(CachedAttentionTest, EightBitsAreTheNearest) {
  for (const std::size_t d : sizes()) {
    if (d == 0 || d > 130) continue;
    const std::size_t rows = 5, heads = 3, stride = heads * d + 2;
    Floats32 x(rows * stride, d % 4), scales(9 * heads, 1);
    Guarded<std::int8_t> to(9 * heads * d, d % 3);
    fill_normal(x, d);
    for (std::size_t c = 0; c < d; ++c) x[c] = 0;  // a head of zeros
    const std::vector<std::int32_t> slots{7, 0, 8, 3, 4};
    QuantizeSlots a{.x = x.data(), .x_stride = stride, .rows = rows, .heads = heads, .d = d};
    a.slots = slots.data(), a.to = to.data(), a.scales = scales.data();
    k.quantize_slots(a);
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t h = 0; h < heads; ++h) {
        const std::size_t at = static_cast<std::size_t>(slots[r]) * heads + h;
        int largest = 0;
        for (std::size_t c = 0; c < d; ++c) {
          const float value = x[r * stride + h * d + c];
          largest = std::max(largest, std::abs(static_cast<int>(to[at * d + c])));
          ASSERT_LE(std::abs(value - static_cast<float>(to[at * d + c]) * scales[at]), 0.501f * scales[at]);
        }
        ASSERT_EQ(largest, r == 0 && h == 0 ? 0 : 127) << "d " << d;
      }
    EXPECT_TRUE(to.intact() && scales.intact());
  }
}

}  // namespace
}  // namespace tril::kern::cached_attention_test
