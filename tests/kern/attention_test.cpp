// Ragged attention of every instruction set against plain loops in double: values, log-sum-exp, weights and gradients,
// for all masks, both conventions, and a bias by distance; the loops' own gradient against finite differences; the
// cached form against the ragged one.
#include <gtest/gtest.h>

#include <limits>
#include <numeric>

#include "kern/attention_twin.h"

namespace tril::kern::attention_test {
namespace {

/// A result matrix with a wider stride; elements outside of rows keep their initial value.
struct Result {
  std::size_t cols, stride;
  Floats32 x;
  std::vector<double> before;
  Result(std::size_t rows, std::size_t cols_, std::size_t slack)
      : cols(cols_), stride(cols_ + 2), x(rows * stride, slack) {
    fill_normal(x, 77);
    before.assign(x.data(), x.data() + x.size());
  }
  /// Expects [rows, cols] in the tokens [begin, end), and unchanged values elsewhere.
  void expect(const std::vector<double>& expected, std::size_t begin, std::size_t end, bool accumulate,
              double tolerance, const std::string& what) const {
    std::vector<double> all = before;
    for (std::size_t i = begin; i < end; ++i) {
      for (std::size_t c = 0; c < cols; ++c) {
        all[i * stride + c] = expected[i * cols + c] + (accumulate ? before[i * stride + c] : 0);
      }
    }
    expect_close(x, all, tolerance, what);
  }
};

void expect_definition(const Kernels& kernels, const Data& d, std::size_t slack, const Floats32& d_out,
                       const Twin& twin) {
  const Case& c = d.c;
  const Attention& a = d.a;
  const std::string name = c.name + " slack " + std::to_string(slack);
  const std::size_t hk = c.heads * c.d_k, hv = c.heads * c.d_v, gk = c.kv_heads * c.d_k, gv = c.kv_heads * c.d_v;
  Floats32 scratch(kernels.attention_scratch(c.d_k, c.d_v), slack);
  Result out(d.q_tokens, hv, slack), lse(d.q_tokens, c.heads, slack);
  Floats32 lse_dense(d.q_tokens * c.heads, slack), without(d.q_tokens * out.stride, slack);
  std::fill_n(without.data(), without.size(), 0.0f), std::fill_n(lse_dense.data(), lse_dense.size(), 7.0f);
  kernels.attention(a, out.x, out.stride, lse_dense, scratch);
  kernels.attention(a, without, out.stride, nullptr, scratch);
  const std::size_t q_end = d.q_tokens - 1, k_end = d.k_tokens - 1;
  const double rounding = c.bf16 ? 2e-2 : 0;  // sums of values of size 1, each rounded by 2^-9
  out.expect(twin.out, Data::gap, q_end, false, 2e-5 + rounding, name + ": out");
  for (std::size_t i = Data::gap; i < q_end; ++i) {
    for (std::size_t x = 0; x < hv; ++x) ASSERT_EQ(without[i * out.stride + x], out.x[i * out.stride + x]) << name;
  }
  std::vector<double> lse_expected(d.q_tokens * c.heads, 7.0);
  std::copy(twin.lse.begin() + static_cast<long>(Data::gap * c.heads),
            twin.lse.begin() + static_cast<long>(q_end * c.heads),
            lse_expected.begin() + static_cast<long>(Data::gap * c.heads));
  expect_close(lse_dense, lse_expected, 2e-6 + rounding, name + ": lse");

  Floats32 weights(twin.weights.size(), slack);
  kernels.attention_weights(a, lse_dense, weights, scratch);
  expect_close(weights, twin.weights, 1e-5 + rounding, name + ": weights");

  Result dq(d.q_tokens, hk, slack), dk(d.k_tokens, gk, slack), dv(d.k_tokens, gv, slack);
  AttentionGradient g;
  g.out = out.x.data(), g.d_out = d_out.data(), g.out_stride = out.stride, g.d_out_stride = hv + 1;
  g.lse = lse_dense.data();
  g.dq = dq.x, g.dk = dk.x, g.dv = dv.x;
  g.dq_stride = dq.stride, g.dk_stride = dk.stride, g.dv_stride = dv.stride;
  g.accumulate_q = g.accumulate_v = c.accumulate, g.accumulate_k = !c.accumulate;
  Floats32 d_bias(d.bias.size(), slack);
  fill_normal(d_bias, 78);
  std::vector<double> d_bias_expected(d_bias.data(), d_bias.data() + d_bias.size());
  for (std::size_t i = 0; i < twin.d_bias.size(); ++i) d_bias_expected[i] += twin.d_bias[i];
  if (c.bias) g.d_bias = d_bias.data() + d.bias_zero;
  Floats32 d_sinks(d.sinks.size(), slack);
  fill_normal(d_sinks, 79);
  std::vector<double> d_sinks_expected(d_sinks.data(), d_sinks.data() + d_sinks.size());
  for (std::size_t i = 0; i < twin.d_sinks.size(); ++i) d_sinks_expected[i] += twin.d_sinks[i];
  if (c.sink_logits) g.d_sinks = d_sinks.data();
  kernels.attention_backward(a, g, scratch);
  expect_close(d_sinks, d_sinks_expected, 5e-5 + 10 * rounding, name + ": d_sinks");
  expect_close(d_bias, d_bias_expected, 5e-5 + 2 * rounding, name + ": d_bias");
  EXPECT_TRUE(d_bias.intact()) << name << ": d_bias overrun";
  dq.expect(twin.dq, Data::gap, q_end, g.accumulate_q, 5e-5 + 2 * rounding, name + ": dq");
  dk.expect(twin.dk, Data::gap, k_end, g.accumulate_k, 5e-5 + 2 * rounding, name + ": dk");
  dv.expect(twin.dv, Data::gap, k_end, g.accumulate_v, 5e-5 + 2 * rounding, name + ": dv");
  EXPECT_TRUE(scratch.intact()) << name << ": scratch overrun";
}

// The definition takes most of the time, so all tables of this processor are compared with the same one.
void check_case(const Case& c, std::size_t slack) {
  const Data d(c, slack);
  const Attention& a = d.a;
  const std::size_t hk = c.heads * c.d_k, hv = c.heads * c.d_v, gk = c.kv_heads * c.d_k, gv = c.kv_heads * c.d_v;
  Floats32 d_out(d.q_tokens * (hv + 1), slack);
  fill_normal(d_out, 4);
  const Twin twin(a, d.q_tokens, d.k_tokens, dense(d_out, hv + 1, d.q_tokens, hv),
                  dense(a.q, a.q_stride, d.q_tokens, hk), dense(a.k, a.k_stride, d.k_tokens, gk),
                  dense(a.v, a.v_stride, d.k_tokens, gv), biases(d));
  for (const Kernels* kernels : tables()) {
    SCOPED_TRACE(kernels->name);
    expect_definition(*kernels, d, slack, d_out, twin);
  }
}

std::vector<Case> widths_and_masks(bool long_ones) {
  std::vector<Case> all;
  const std::vector<std::pair<int, int>> short_rows{{0, 0},  {1, 1},  {15, 15}, {0, 4}, {4, 0},
                                                    {1, 15}, {2, 15}, {5, 64},  {64, 5}},
      long_rows{{65, 65}, {1, 130}, {130, 257}, {257, 64}, {257, 257}};
  std::size_t n = 0;
  for (std::size_t d : {1u, 3u, 8u, 20u, 32u, 33u, 64u, 80u}) {
    for (MaskKind mask : {MaskKind::full, MaskKind::causal, MaskKind::explicit01}) {
      for (bool minus : {false, true}) {
        Case c;
        c.d_k = d, c.d_v = n % 3 == 0 ? d : n % 3 == 1 ? d + 5 : (d + 1) / 2;
        c.heads = n % 2 ? 4 : 2, c.kv_heads = n % 4 == 1 ? 2 : n % 4 == 3 ? 1 : 2;
        c.mask = mask, c.minus_1e9 = minus;
        c.window = mask == MaskKind::causal && n % 5 < 2 ? static_cast<int>(1 + n % 40) : 0;
        c.p = n % 3 == 2 ? 0.3f : 0.0f;
        c.accumulate = n % 2;
        c.mask_for_each_head = n % 2;
        c.bias = n % 4 < 2;
        c.softcap = n % 4 == 3 ? 0.7f : 0.0f;
        c.sink_logits = n % 3 == 0 && !minus;
        c.rows = short_rows;
        c.name = "case " + std::to_string(n) + " d " + std::to_string(d) + " mask " +
                 std::to_string(static_cast<int>(mask)) + (minus ? " -1e9" : " -inf");
        if (!long_ones) {
          all.push_back(c);
        } else if (d == 8 || d == 33 || (d == 64 && minus)) {
          c.rows = long_rows, c.name += " long";
          all.push_back(c);
        }
        ++n;
      }
    }
  }
  return all;
}

std::vector<Case> special_shapes() {
  std::vector<Case> all;
  Case fused{
      .name = "fused", .heads = 4, .kv_heads = 2, .d_k = 16, .d_v = 16, .rows = {{15, 15}, {30, 30}, {150, 150}}};
  fused.mask = MaskKind::causal, fused.fused = true;
  all.push_back(fused);
  Case sharp{.name = "sharp", .heads = 2, .kv_heads = 2, .d_k = 32, .d_v = 32, .rows = {{15, 15}, {70, 300}}};
  sharp.spread = 4;  // scores of some tens: the running maximum moves and the old sums vanish
  all.push_back(sharp);
  sharp.softcap = 5, sharp.mask = MaskKind::causal, sharp.name += " and capped";
  all.push_back(sharp);
  Case window{
      .name = "window", .heads = 1, .kv_heads = 1, .d_k = 8, .d_v = 8, .rows = {{600, 600}, {40, 600}, {300, 20}}};
  window.mask = MaskKind::causal, window.window = 9, window.minus_1e9 = true;
  all.push_back(window);
  window.softcap = 0.7f, window.name += " and cap";
  all.push_back(window);
  window.softcap = 0, window.bias = true, window.name = "window and bias";
  all.push_back(window);
  window.mask = MaskKind::near, window.bf16 = true, window.name = "near and bias";
  all.push_back(window);
  window.window = 150, window.bias = false, window.softcap = 0.7f, window.p = 0.3f, window.minus_1e9 = false;
  window.name = "near and cap";
  all.push_back(window);
  window.window = 0, window.softcap = 0, window.sink_logits = true, window.name = "near: its own position alone";
  all.push_back(window);
  return all;
}

std::vector<Case> mixed_precision() {
  std::vector<Case> all;
  for (std::size_t d : {1u, 8u, 32u, 33u, 64u, 80u})
    for (MaskKind mask : {MaskKind::full, MaskKind::causal}) {
      Case mixed{.name = "bf16 d " + std::to_string(d), .heads = 4, .kv_heads = d == 64 ? 1u : 4u, .d_k = d, .d_v = d};
      mixed.rows = {{1, 1}, {15, 15}, {16, 16}, {17, 17}, {1, 15}, {0, 4}, {2, 33}, {40, 64}, {130, 257}, {257, 512}};
      if (d == 33 || d == 64) mixed.rows.push_back({70, 1100});
      mixed.mask = mask, mixed.bf16 = true;
      mixed.bias = d == 33 || d == 64;
      mixed.softcap = mixed.bias || d == 8 ? 0.0f : 0.7f;
      mixed.sink_logits = d == 8 || d == 32;
      mixed.d_v = d == 33 ? 20 : d, mixed.p = d == 32 ? 0.3f : 0.0f, mixed.accumulate = d % 2;
      all.push_back(mixed);
      mixed.rows = {{1, 1}, {15, 15}, {0, 4}, {2, 33}, {130, 257}, {3, 4097}}, mixed.name += " and a row too long";
      all.push_back(mixed);
    }
  return all;
}

class AttentionTest : public KernelTest {};
INSTANTIATE_TEST_SUITE_P(Tables, AttentionTest, every_table(), table_name);

void check_all(const std::vector<Case>& cases) {
  std::size_t slack = 0;
  for (const Case& c : cases) check_case(c, slack++ % 4);
}

TEST(AttentionDefinition, IsMatchedInShortRows) {
  check_all(widths_and_masks(false));
}

TEST(AttentionDefinition, IsMatchedInLongRows) {
  check_all(widths_and_masks(true));
}

TEST(AttentionDefinition, IsMatchedInSpecialShapes) {
  check_all(special_shapes());
}

TEST(AttentionDefinition, IsMatchedInMixedPrecision) {
  check_all(mixed_precision());
}

TEST(AttentionTwin, GradientIsThatOfFiniteDifferences) {
  for (const auto& [mask, softcap] : {std::pair(MaskKind::full, 0.0f),
                                      {MaskKind::causal, 0.0f},
                                      {MaskKind::explicit01, 0.0f},
                                      {MaskKind::full, 0.5f},
                                      {MaskKind::causal, 2.0f}}) {
    Case c{.name = "differences", .heads = 4, .kv_heads = 2, .d_k = 3, .d_v = 2, .rows = {{3, 4}, {4, 2}}};
    c.mask = mask, c.minus_1e9 = mask == MaskKind::causal, c.p = mask == MaskKind::full ? 0.25f : 0.0f;
    c.bias = softcap == 0;
    c.softcap = softcap;
    const Data d(c, 0);
    const Attention& a = d.a;
    std::vector<double> d_out(d.q_tokens * 8);
    for (std::size_t i = 0; i < d_out.size(); ++i) d_out[i] = std::sin(static_cast<double>(i));
    std::vector<double> x[3] = {dense(a.q, a.q_stride, d.q_tokens, 12), dense(a.k, a.k_stride, d.k_tokens, 6),
                                dense(a.v, a.v_stride, d.k_tokens, 4)};
    Biases bias = biases(d);
    const auto run = [&] { return Twin(a, d.q_tokens, d.k_tokens, d_out, x[0], x[1], x[2], bias); };
    const auto value = [&] {
      const auto out = run().out;
      return std::inner_product(out.begin(), out.end(), d_out.begin(), 0.0);
    };
    const Twin at = run();
    std::vector<double>* const inputs[4] = {&x[0], &x[1], &x[2], &bias.x};
    const std::vector<double>* gradient[4] = {&at.dq, &at.dk, &at.dv, &at.d_bias};
    for (int which = 0; which < 4; ++which) {
      for (std::size_t i = 0; i < inputs[which]->size(); ++i) {
        double& element = (*inputs[which])[i];
        const double kept = element, step = 1e-5;
        element = kept + step;
        const double above = value();
        element = kept - step;
        const double below = value();
        element = kept;
        ASSERT_NEAR((above - below) / (2 * step), (*gradient[which])[i], 1e-7) << "input " << which << " element " << i;
      }
    }
  }
}

TEST_P(AttentionTest, BlindQueriesGiveZerosOrTheMean) {
  for (bool minus : {false, true}) {
    Case c{.name = "blind", .heads = 1, .kv_heads = 1, .d_k = 4, .d_v = 1, .rows = {{5, 3}}};
    c.mask = MaskKind::causal, c.minus_1e9 = minus;  // the first two of five queries precede all three keys
    Data d(c, 1);
    Floats32 scratch(k.attention_scratch(4, 1)), out(d.q_tokens), lse(d.q_tokens);
    k.attention(d.a, out, 1, lse, scratch);
    const std::size_t first = static_cast<std::size_t>(d.rows[0].q_begin),
                      key = static_cast<std::size_t>(d.rows[0].k_begin);
    const float mean = (d.a.v[key * d.v_stride] + d.a.v[(key + 1) * d.v_stride] + d.a.v[(key + 2) * d.v_stride]) / 3;
    for (std::size_t i = first; i < first + 2; ++i) {
      EXPECT_NEAR(out[i], minus ? mean : 0.0f, 1e-6);
      EXPECT_EQ(lse[i], minus ? -1e9f : -std::numeric_limits<float>::infinity());
    }
    EXPECT_NEAR(out[first + 2], d.a.v[key * d.v_stride], 1e-6);  // the third sees only the first key
  }
}

TEST_P(AttentionTest, ResultDoesNotDependOnTheOtherRows) {
  Case c{.name = "rows", .heads = 4, .kv_heads = 4, .d_k = 32, .d_v = 32, .rows = {{15, 15}, {9, 20}, {1, 30}}};
  Data d(c, 0);
  Floats32 scratch(k.attention_scratch(32, 32)), together(d.q_tokens * 128), alone(d.q_tokens * 128);
  k.attention(d.a, together, 128, nullptr, scratch);
  for (const RowSpan& row : d.rows) {
    Attention one = d.a;
    one.rows = &row, one.num_rows = 1;
    k.attention(one, alone, 128, nullptr, scratch);
  }
  const std::size_t begin = Data::gap * 128, end = (d.q_tokens - 1) * 128;
  for (std::size_t i = begin; i < end; ++i) ASSERT_EQ(together[i], alone[i]) << i;
}

TEST_P(AttentionTest, CachedEqualsRaggedWithOneQuery) {
  for (std::size_t d_k : {1u, 8u, 20u, 32u, 33u, 64u, 128u}) {
    const std::size_t d_v = d_k == 20 ? 31 : d_k, heads = 4, kv_heads = d_k == 8 ? 1 : d_k == 64 ? 2 : 4;
    const std::vector<std::int32_t> lengths{0, 1, 15, 2, 65, 130, 257, 0, 3};
    const std::size_t total = static_cast<std::size_t>(std::accumulate(lengths.begin(), lengths.end(), 0));
    std::vector<std::int32_t> slot(total);  // key i lies in slot[i]: the slots permuted
    std::iota(slot.begin(), slot.end(), 0);
    RandomSequence random(3, 4);
    for (std::size_t i = total; i > 1; --i) std::swap(slot[i - 1], slot[random.below(i)]);

    const std::size_t n = lengths.size(), k_stride = kv_heads * d_k + 1, v_stride = kv_heads * d_v;
    Floats32 q(n * heads * d_k, 1), keys(total * k_stride, 2), values(total * v_stride, 3);
    fill_normal(q, 1), fill_normal(keys, 2), fill_normal(values, 3);
    std::vector<double> expected;
    std::vector<const std::int32_t*> slots;
    std::size_t at = 0;
    for (std::size_t r = 0; r < n; ++r) {
      slots.push_back(slot.data() + at);
      for (std::size_t h = 0; h < heads; ++h) {
        const std::size_t g = h / (heads / kv_heads);
        std::vector<double> p, y(d_v);
        double sum = 0;
        for (std::size_t j = 0; j < static_cast<std::size_t>(lengths[r]); ++j) {
          double s = 0;
          for (std::size_t c = 0; c < d_k; ++c) {
            s += static_cast<double>(q[(r * heads + h) * d_k + c]) *
                 static_cast<double>(keys[static_cast<std::size_t>(slots[r][j]) * k_stride + g * d_k + c]);
          }
          sum += p.emplace_back(std::exp(s * 0.25));
        }
        for (std::size_t j = 0; j < p.size(); ++j) {
          for (std::size_t c = 0; c < d_v; ++c) {
            y[c] += p[j] / sum *
                    static_cast<double>(values[static_cast<std::size_t>(slots[r][j]) * v_stride + g * d_v + c]);
          }
        }
        expected.insert(expected.end(), y.begin(), y.end());
      }
      at += static_cast<std::size_t>(lengths[r]);
    }
    CachedAttention a;
    a.q = q.data(), a.k = keys.data(), a.v = values.data();
    a.q_stride = heads * d_k, a.k_stride = k_stride, a.v_stride = v_stride;
    a.slots = slots.data(), a.lengths = lengths.data(), a.num_rows = n;
    a.heads = heads, a.kv_heads = kv_heads, a.d_k = d_k, a.d_v = d_v, a.scale = 0.25f;
    Floats32 out(n * heads * d_v, 1), scratch(k.cached_attention_scratch(a), 2);
    k.cached_attention(a, out, heads * d_v, scratch);
    expect_close(out, expected, 1e-5, "cached, d_k " + std::to_string(d_k));

    // The same keys in order, by the ragged kernel.
    Floats32 in_order_k(total * k_stride), in_order_v(total * v_stride), ragged(n * heads * d_v);
    std::vector<RowSpan> rows;
    for (std::size_t i = 0; i < total; ++i) {
      const std::size_t s = static_cast<std::size_t>(slot[i]);
      std::copy_n(keys.data() + s * k_stride, k_stride, in_order_k.data() + i * k_stride);
      std::copy_n(values.data() + s * v_stride, v_stride, in_order_v.data() + i * v_stride);
    }
    for (std::size_t r = 0, begin = 0; r < n; begin += static_cast<std::size_t>(lengths[r++])) {
      rows.push_back({static_cast<int>(r), 1, static_cast<int>(begin), lengths[r]});
    }
    Attention b;
    b.q = q.data(), b.k = in_order_k.data(), b.v = in_order_v.data();
    b.q_stride = heads * d_k, b.k_stride = k_stride, b.v_stride = v_stride;
    b.rows = rows.data(), b.num_rows = n, b.heads = heads, b.kv_heads = kv_heads, b.d_k = d_k, b.d_v = d_v,
    b.scale = 0.25f;
    b.mask = MaskKind::causal;  // the last query sees all keys
    Floats32 ragged_scratch(k.attention_scratch(d_k, d_v));
    k.attention(b, ragged, heads * d_v, nullptr, ragged_scratch);
    expect_close(ragged, std::vector<double>(out.data(), out.data() + out.size()), 1e-5, "ragged against cached");
  }
}

}  // namespace
}  // namespace tril::kern::attention_test
