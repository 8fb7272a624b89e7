// attention and cached_attention against plain loops in double.
#include <cmath>

#include "support/attention_rows.h"
#include "support/op_case.h"
#include "support/watcher.h"

namespace tril::test {
namespace {

using kern::MaskKind;

struct Setting {
  std::string name;
  std::vector<RowSpan> spans;
  std::int64_t heads = 1, kv_heads = 1, d_k = 4, d_v = 4;
  ops::Mask mask;
  float dropout = 0;
  std::vector<std::uint8_t> allow;  // explicit01, of this shape
  Shape allow_shape;
  bool bias = false;  // by distance: a fourth input [H, distances]
  float softcap = 0;
  bool sinks = false;  // the last input [H]
};

// The distances of the longest rows: from 1 - k_len to q_len - 1.
std::int64_t longest_keys(const Setting& s) {
  std::int64_t n = 1;
  for (const RowSpan& r : s.spans) n = std::max<std::int64_t>(n, r.k_len);
  return n;
}
std::int64_t distances(const Setting& s) {
  std::int64_t n = 1;
  for (const RowSpan& r : s.spans) n = std::max<std::int64_t>(n, r.q_len);
  return n + longest_keys(s) - 1;
}

bool sees(const Setting& s, std::size_t row, std::int64_t head, std::int64_t i, std::int64_t j) {
  const RowSpan& r = s.spans[row];
  switch (s.mask.kind) {
    case MaskKind::full:
      return true;
    case MaskKind::causal: {
      const std::int64_t position = i + r.k_len - r.q_len;
      return j <= position && (s.mask.window == 0 || j > position - s.mask.window);
    }
    case MaskKind::near:
      return std::abs(j - (i + r.k_len - r.q_len)) <= s.mask.window;
    case MaskKind::explicit01: {
      const std::int64_t B = s.allow_shape[0], H = s.allow_shape[1], Tq = s.allow_shape[2], Tk = s.allow_shape[3];
      const std::int64_t b = B == 1 ? 0 : static_cast<std::int64_t>(row), h = H == 1 ? 0 : head, q = Tq == 1 ? 0 : i;
      return s.allow[static_cast<std::size_t>(((b * H + h) * Tq + q) * Tk + j)] != 0;
    }
  }
  return false;
}

// Softmax over the keys of a row as the mask leaves them; weights [k_len] of one query.
Doubles weights_in_double(const Setting& s, std::span<const Doubles> x, std::size_t row, std::int64_t h,
                          std::int64_t i) {
  const RowSpan& r = s.spans[row];
  const std::int64_t kv = h / (s.heads / s.kv_heads);
  Doubles w;
  double largest = -INFINITY, sum = 0;
  for (std::int64_t j = 0; j < r.k_len; ++j) {
    double score = 0;
    for (std::int64_t d = 0; d < s.d_k; ++d)
      score += at(x[0], r.q_begin + i, h * s.d_k + d, s.heads * s.d_k) *
               at(x[1], r.k_begin + j, kv * s.d_k + d, s.kv_heads * s.d_k);
    score /= std::sqrt(static_cast<double>(s.d_k));
    if (s.softcap > 0) score = static_cast<double>(s.softcap) * std::tanh(score / static_cast<double>(s.softcap));
    if (s.bias) score += at(x[3], h, longest_keys(s) - 1 + j - (i + r.k_len - r.q_len), distances(s));
    if (!sees(s, row, h, i, j)) score = s.mask.masked_is_minus_1e9 ? -1e9 : -INFINITY;
    w.push_back(score);
    largest = std::max(largest, score);
  }
  for (double& v : w) sum += v = std::isinf(largest) ? 0 : std::exp(v - largest);
  if (s.sinks && sum > 0) sum += std::exp(x.back()[static_cast<std::size_t>(h)] - largest);
  for (double& v : w) v = sum > 0 ? v / sum : 0;
  return w;
}

OpCase attention_case(const Setting& s) {
  OpCase op;
  op.name = s.name;
  op.shapes = {
      {queries(s.spans), s.heads * s.d_k}, {keys(s.spans), s.kv_heads * s.d_k}, {keys(s.spans), s.kv_heads * s.d_v}};
  op.columns = {0, 1, 2};
  if (s.bias) op.shapes.push_back({s.heads, distances(s)});
  if (s.sinks) op.shapes.push_back({s.heads});
  op.training = s.dropout > 0;
  op.tolerance = 2e-5;
  op.gradient_tolerance = 1e-4;
  op.run = [s](Context& c, std::span<const Tensor> x) {
    ops::AttentionOptions o{
        .num_heads = s.heads, .num_kv_heads = s.kv_heads, .mask = s.mask, .dropout = s.dropout, .softcap = s.softcap};
    if (s.mask.kind == MaskKind::explicit01) o.mask.allow = c.upload<std::uint8_t>(s.allow, s.allow_shape);
    if (s.bias) o.bias = {x[3], longest_keys(s) - 1};
    if (s.sinks) o.sink_logits = x.back();
    return ops::attention(c, {x[0], x[1], x[2]}, shared(s.spans), o);
  };
  op.reference = [s](std::span<const Doubles> x) {
    Doubles y(static_cast<std::size_t>(queries(s.spans) * s.heads * s.d_v));
    const RandomKey key = random_key(op_seed, 0);
    for (std::size_t row = 0; row < s.spans.size(); ++row)
      for (std::int64_t h = 0; h < s.heads; ++h)
        for (std::int64_t i = 0; i < s.spans[row].q_len; ++i) {
          const RowSpan& r = s.spans[row];
          const Doubles w = weights_in_double(s, x, row, h, i);
          const RandomKey stream = sub_key(key, row * static_cast<std::size_t>(s.heads) + static_cast<std::size_t>(h));
          for (std::int64_t j = 0; j < r.k_len; ++j) {
            double weight = w[static_cast<std::size_t>(j)];
            if (s.dropout > 0) weight *= dropout_factor(s.dropout, stream, static_cast<std::size_t>(i * r.k_len + j));
            for (std::int64_t d = 0; d < s.d_v; ++d)
              y[static_cast<std::size_t>((r.q_begin + i) * s.heads * s.d_v + h * s.d_v + d)] +=
                  weight * at(x[2], r.k_begin + j, h / (s.heads / s.kv_heads) * s.d_v + d, s.kv_heads * s.d_v);
          }
        }
    return y;
  };
  return op;
}

TEST(Attention, MasksAndHeads) {
  for (const auto& [heads, kv_heads, d_k, d_v] :
       {std::array<std::int64_t, 4>{1, 1, 1, 1}, {2, 2, 5, 3}, {4, 2, 4, 7}, {3, 1, 8, 8}})
    for (const auto* spans : {&self_rows, &cross_rows}) {
      const std::string name = fmt::format("attention of {} heads, {} for keys, d_k {}, d_v {}, {} ", heads, kv_heads,
                                           d_k, d_v, spans == &self_rows ? "self" : "cross");
      check_op(attention_case(
          {.name = name + "full", .spans = *spans, .heads = heads, .kv_heads = kv_heads, .d_k = d_k, .d_v = d_v}));
      if (spans == &cross_rows && d_k == 1) continue;
      check_op(attention_case({.name = name + "causal",
                               .spans = self_rows,
                               .heads = heads,
                               .kv_heads = kv_heads,
                               .d_k = d_k,
                               .d_v = d_v,
                               .mask = ops::Mask::causal()}));
    }
}

TEST(Attention, BiasByDistance) {
  for (const auto* spans : {&self_rows, &cross_rows})
    check_op(attention_case({.name = "bias", .spans = *spans, .heads = 4, .kv_heads = 2, .bias = true}));
  check_op(attention_case({.name = "bias, causal, continued, dropout",
                           .spans = {{0, 2, 0, 6}, {2, 1, 6, 3}},
                           .heads = 2,
                           .kv_heads = 2,
                           .mask = ops::Mask::causal(),
                           .dropout = 0.3f,
                           .bias = true}));
  check_op(attention_case({.name = "bias, 70 x 150", .spans = {{0, 70, 0, 150}}, .d_k = 3, .d_v = 2, .bias = true}));

  Arena arena;
  Context c(arena);
  const Tensor x = c.zeros({6, 8});
  const auto with = [&](const Shape& shape, std::int64_t zero) {
    ops::attention(c, {x, x, x}, shared({{0, 2, 0, 4}}), {.num_heads = 2, .bias = {c.zeros(shape), zero}});
  };
  with({2, 5}, 3);
  expect_error([&] { with({1, 5}, 3); }, "for 2 heads, 2 queries and 4 keys");
  expect_error([&] { with({2, 5}, 2); }, "attention: bias");
  expect_error([&] { with({2, 4}, 3); }, "attention: bias");
}

TEST(Attention, SinkLogits) {
  for (const auto* spans : {&self_rows, &cross_rows})
    check_op(attention_case({.name = "sinks", .spans = *spans, .heads = 4, .kv_heads = 2, .sinks = true}));
  check_op(attention_case({.name = "sinks, causal, window, dropout, bias",
                           .spans = {{0, 2, 0, 6}, {2, 9, 6, 9}},
                           .heads = 2,
                           .kv_heads = 2,
                           .mask = ops::Mask::causal(3),
                           .dropout = 0.3f,
                           .bias = true,
                           .sinks = true}));
  Arena arena;
  Context c(arena);
  const Tensor x = c.zeros({2, 4});
  expect_error(
      [&] {
        ops::attention(c, {x, x, x}, shared({{0, 2, 0, 2}}), {.sink_logits = c.zeros({2})});
      },
      "attention: sink logits: expected [1], got [2]");
}

TEST(Attention, SoftCapsOfScores) {
  for (const float cap : {0.5f, 3.0f})
    for (const auto* spans : {&self_rows, &cross_rows})
      check_op(attention_case({.name = "cap", .spans = *spans, .heads = 4, .kv_heads = 2, .softcap = cap}));
  check_op(attention_case({.name = "cap, causal, window, dropout",
                           .spans = {{0, 2, 0, 6}, {2, 9, 6, 9}},
                           .heads = 2,
                           .kv_heads = 2,
                           .mask = ops::Mask::causal(3),
                           .dropout = 0.3f,
                           .softcap = 1}));
  check_op(attention_case({.name = "cap, 70 x 150", .spans = {{0, 70, 0, 150}}, .d_k = 3, .d_v = 2, .softcap = 1}));

  Arena arena;
  Context c(arena);
  const Tensor x = c.zeros({2, 4});
  expect_error(
      [&] {
        ops::attention(c, {x, x, x}, shared({{0, 2, 0, 2}}), {.softcap = 2, .bias = {c.zeros({1, 3}), 1}});
      },
      "invalid soft cap of 2 over scores with a bias");
  expect_error(
      [&] {
        ops::attention(c, {x, x, x}, shared({{0, 2, 0, 2}}), {.softcap = -1});
      },
      "invalid soft cap of -1");
}

TEST(Attention, WindowAndContinuedRows) {
  check_op(attention_case(
      {.name = "window 2", .spans = {{0, 7, 0, 7}}, .heads = 2, .kv_heads = 2, .mask = ops::Mask::causal(2)}));
  // Queries are the last of a longer list of keys, as with a cache.
  check_op(attention_case(
      {.name = "causal, continued", .spans = {{0, 2, 0, 6}, {2, 1, 6, 3}}, .mask = ops::Mask::causal()}));
}

TEST(Attention, NearKeysOnly) {
  check_op(attention_case(
      {.name = "near 2", .spans = {{0, 7, 0, 7}}, .heads = 2, .kv_heads = 2, .mask = ops::Mask::near(2)}));
  check_op(attention_case({.name = "150 near 20, cap",
                           .spans = {{0, 150, 0, 150}},
                           .d_k = 3,
                           .d_v = 2,
                           .mask = ops::Mask::near(20),
                           .softcap = 2}));
}

TEST(Attention, LongerThanATile) {
  check_op(attention_case({.name = "100 x 150 full", .spans = {{0, 100, 0, 150}}, .d_k = 3, .d_v = 2}));
  check_op(attention_case(
      {.name = "150 causal", .spans = {{0, 150, 0, 150}}, .d_k = 3, .d_v = 2, .mask = ops::Mask::causal()}));
  check_op(attention_case({.name = "150 causal window 20, dropout",
                           .spans = {{0, 150, 0, 150}},
                           .d_k = 2,
                           .d_v = 2,
                           .mask = ops::Mask::causal(20),
                           .dropout = 0.2f}));
}

TEST(Attention, Dropout) {
  check_op(attention_case({.name = "dropout", .spans = cross_rows, .heads = 2, .kv_heads = 1, .dropout = 0.3f}));
  check_op(attention_case({.name = "dropout causal",
                           .spans = self_rows,
                           .heads = 2,
                           .kv_heads = 2,
                           .mask = ops::Mask::causal(),
                           .dropout = 0.3f}));
}

TEST(Attention, ExplicitMasksInBothConventions) {
  const std::vector<RowSpan> rows{{0, 3, 0, 4}, {3, 3, 4, 4}};
  for (bool minus_1e9 : {false, true})
    for (const Shape& shape :
         {Shape{1, 1, 3, 4}, Shape{2, 1, 3, 4}, Shape{2, 2, 3, 4}, Shape{2, 1, 1, 4}, Shape{1, 2, 1, 4}}) {
      Setting s{.name = fmt::format("explicit {} {}", shape.text(), minus_1e9 ? "-1e9" : "-inf"),
                .spans = rows,
                .heads = 2,
                .kv_heads = 2};
      s.mask.kind = MaskKind::explicit01;
      s.mask.masked_is_minus_1e9 = minus_1e9;
      RandomSequence random(8, 1);
      for (std::int64_t i = 0; i < shape.count(); ++i) s.allow.push_back(random.below(3) != 0);
      for (std::int64_t j = 0; j < 4; ++j) s.allow[static_cast<std::size_t>(j)] = 0;  // the first query sees nothing
      s.allow_shape = shape;
      check_op(attention_case(s));
    }
}

TEST(Attention, CausalRowsThatSeeNothing) {
  for (bool minus_1e9 : {false, true}) {  // more queries than keys: the first precede every key
    Setting s{.name = "causal, more queries than keys", .spans = {{0, 5, 0, 3}}, .mask = ops::Mask::causal()};
    s.mask.masked_is_minus_1e9 = minus_1e9;
    check_op(attention_case(s));
  }
}

TEST(Attention, KeysSharedByRowsAndTokensOfNone) {
  // Two rows share the same keys; query 2 and keys 3 and 4 are in no row: zeros, and no gradient.
  check_op(attention_case(
      {.name = "shared keys", .spans = {{0, 2, 0, 3}, {3, 2, 0, 3}, {5, 1, 5, 2}}, .heads = 2, .kv_heads = 2}));
  check_op(attention_case({.name = "shared keys, long", .spans = {{0, 90, 0, 3}, {90, 2, 0, 3}}}));
}

TEST(Attention, OneTensorAsQueriesKeysAndValues) {
  for (std::int32_t n : {5, 150}) {
    const Setting s{.name = "x, x, x",
                    .spans = {{0, n, 0, n}},
                    .heads = 2,
                    .kv_heads = 2,
                    .d_k = 3,
                    .d_v = 3,
                    .mask = ops::Mask::causal()};
    OpCase op = attention_case(s);
    const auto run = op.run;
    const auto reference = op.reference;
    op.shapes = {op.shapes[0]};
    op.columns = {0};
    op.run = [run](Context& c, std::span<const Tensor> x) { return run(c, std::array{x[0], x[0], x[0]}); };
    op.reference = [reference](std::span<const Doubles> x) { return reference(std::array{x[0], x[0], x[0]}); };
    check_op(op);
  }
}

TEST(Attention, ColumnsOfOneFusedTensor) {
  const Setting s{.name = "fused q, k, v",
                  .spans = self_rows,
                  .heads = 2,
                  .kv_heads = 1,
                  .d_k = 4,
                  .d_v = 3,
                  .mask = ops::Mask::causal()};
  OpCase op = attention_case(s);
  const auto run = op.run;
  const auto reference = op.reference;
  const std::int64_t width = 8 + 4 + 3;
  op.shapes = {{8, width}};
  op.columns = {};
  op.run = [run](Context& c, std::span<const Tensor> x) {
    return run(c, std::array{x[0].columns(0, 8), x[0].columns(8, 12), x[0].columns(12, 15)});
  };
  op.reference = [reference](std::span<const Doubles> x) {
    std::array<Doubles, 3> parts;
    for (std::int64_t i = 0; i < 8; ++i)
      for (std::int64_t j = 0; j < width; ++j) parts[j < 8 ? 0 : j < 12 ? 1 : 2].push_back(at(x[0], i, j, width));
    return reference(parts);
  };
  check_op(op);
}

TEST(Attention, WeightsForWhoeverLooks) {
  const Setting s{.name = "weights",
                  .spans = {{0, 3, 0, 4}, {3, 3, 4, 4}},
                  .heads = 2,
                  .kv_heads = 2,
                  .mask = ops::Mask::causal(2)};
  const OpCase op = attention_case(s);
  std::vector<Doubles> x;
  for (std::size_t k = 0; k < 3; ++k) {
    const auto values = normal_values(op.shapes[k].count(), k);
    x.emplace_back(values.begin(), values.end());
  }
  for (const kern::Kernels* kernels : kern::tables()) {
    Arena arena;
    Context c(arena, *kernels);
    std::vector<Tensor> inputs;
    for (std::size_t k = 0; k < 3; ++k)
      inputs.push_back(c.upload<float>(normal_values(op.shapes[k].count(), k), op.shapes[k]));
    std::vector<float> seen;
    Shape shape;
    std::string name;
    const Watcher watcher(c, "weights", [&](const std::string& where, const Tensor& w) {
      name = where, seen = host_copy<float>(w), shape = w.shape();
    });
    const auto at_self = c.scope("self_attn");
    op.run(c, inputs);
    EXPECT_EQ(name, "self_attn");
    EXPECT_EQ(shape, (Shape{2, 2, 3, 4}));
    std::size_t n = 0;
    for (std::size_t row = 0; row < 2; ++row)
      for (std::int64_t h = 0; h < 2; ++h)
        for (std::int64_t i = 0; i < 3; ++i)
          for (double w : weights_in_double(s, x, row, h, i)) EXPECT_NEAR(seen.at(n++), w, 2e-6);
  }
}

// An observer tells masked pairs from pairs of weight 0.
TEST(Attention, AnObserverSeesWhatTheMaskAllows) {
  Arena arena;
  Context c(arena);
  std::vector<std::uint8_t> allowed;
  Shape shape;
  const Watcher watcher(
      c, "mask", [&](const std::string&, const Tensor& x) { allowed = host_copy<std::uint8_t>(x), shape = x.shape(); });
  const Tensor x = c.upload<float>(normal_values(4 * 6, 1), {4, 6});
  const auto of = [&](const ops::Mask& mask, std::vector<kern::RowSpan> rows) {
    ops::attention(c, {x, x, x}, shared(std::move(rows)), {.num_heads = 2, .mask = mask});
    std::string picture;
    for (const std::uint8_t one : allowed) picture += one != 0 ? '#' : '.';
    return picture;
  };
  EXPECT_EQ(of(ops::Mask::full(), {{0, 2, 0, 3}}), "######");
  EXPECT_EQ(of(ops::Mask::causal(), {{0, 3, 0, 3}}), "#..##.###");
  EXPECT_EQ(shape, (Shape{1, 3, 3}));
  EXPECT_EQ(of(ops::Mask::causal(), {{0, 2, 0, 3}}), "##.###") << "the last query sees the last key";
  EXPECT_EQ(of(ops::Mask::causal(2), {{0, 4, 0, 4}}), "#...##...##...##");
  EXPECT_EQ(of(ops::Mask::near(1), {{0, 3, 0, 3}}), "##.###.##");
  const std::vector<std::uint8_t> by_head{1, 0, 0, 1};
  EXPECT_EQ(of(ops::Mask::explicit01(c.upload<std::uint8_t>(by_head, {1, 2, 1, 2})), {{0, 2, 0, 2}}), "#.#..#.#");
  EXPECT_EQ(shape, (Shape{2, 2, 2}));
}

// An observer may refuse the memory of the scores, which are computed for it alone, before it is taken.
TEST(Attention, AnObserverIsAskedBeforeScoresAreComputed) {
  class Refuses : public Observer {
   public:
    std::int64_t asked = 0;
    bool seen = false;

   protected:
    bool wants_point(const std::string&) override { return true; }
    bool see_point(Context&, const std::string&, std::int64_t, Tensor&) override {
      seen = true;
      return false;
    }
    void ask_bytes(const std::string& name, std::int64_t bytes) override {
      asked = bytes;
      fail_usage(name, "too much");
    }
  };
  Arena arena;
  Context c(arena);
  Refuses observer;
  c.set_observer(&observer);
  const Tensor x = c.upload<float>(normal_values(4 * 6, 1), {4, 6});
  expect_error([&] { ops::attention(c, {x, x, x}, shared({{0, 4, 0, 4}}), {.num_heads = 2}); }, "too much");
  EXPECT_GE(observer.asked, 2 * 4 * 4 * 4) << "at least the scores of both heads";
  EXPECT_FALSE(observer.seen);
}

TEST(Attention, MemoryGrowsWithTheLength) {
  const auto peak = [](std::int32_t T) {
    Arena arena;
    Context c(arena);
    Tape tape;
    Grads grads;
    const Tensor x = c.upload<float>(normal_values(T * 16, 1), {T, 16});
    tape.watch(x);
    c.set_tape(&tape);
    arena.reset_peak();
    const std::size_t before = arena.stats().live_bytes;
    const Tensor y = ops::attention(c, {x, x, x}, shared({{0, T, 0, T}}), {.num_heads = 2});
    tape.backward(c, y, y, grads);
    return static_cast<double>(arena.stats().peak_bytes - before);
  };
  EXPECT_LT(peak(2048) / peak(512), 4.2) << "four times the tokens, four times the memory";
}

TEST(Attention, Errors) {
  Arena arena;
  Context c(arena);
  const Tensor q = c.zeros({3, 6}), k = c.zeros({4, 6});
  const auto spans = shared({{0, 3, 0, 4}});
  expect_error([&] { ops::attention(c, {q, k, k}, spans, {.num_heads = 4}); }, "q [3, 6] is not divisible by 4 heads");
  expect_error(
      [&] {
        ops::attention(c, {q, k, k}, spans, {.num_heads = 3, .num_kv_heads = 2});
      },
      "2 key heads do not divide 3 heads");
  expect_error(
      [&] {
        ops::attention(c, {q, c.zeros({4, 4}), k}, spans, {.num_heads = 3});
      },
      "k [4, 4] should have 3 heads of 2");
  expect_error([&] { ops::attention(c, {q, k, c.zeros({5, 6})}, spans, {.num_heads = 3}); }, "4 keys and 5 values");
  expect_error(
      [&] {
        ops::attention(c, {q, k, k}, shared({{0, 4, 0, 4}}), {});
      },
      "queries [0, +4) and keys [0, +4) of 3 and 4");
  ops::AttentionOptions masked{.mask = ops::Mask::explicit01(c.empty({2, 1, 3, 4}, DType::u8))};
  expect_error([&] { ops::attention(c, {q, k, k}, spans, masked); }, "[2, 1, 3, 4] for 1 rows and 1 heads");
  masked.mask.allow = c.empty({1, 1, 2, 4}, DType::u8);
  expect_error([&] { ops::attention(c, {q, k, k}, spans, masked); }, "[1, 1, 2, 4] for a row of 3 queries and 4 keys");
  expect_error([&] { ops::spans_of(Rows::rectangle(2, 3), Rows::rectangle(3, 3)); }, "2 rows of queries and 3 of keys");
}

TEST(CachedAttention, EqualsAttentionOfTheSameKeys) {
  for (const kern::Kernels* kernels : kern::tables())
    for (const auto& [heads, kv_heads, d_k, d_v] :
         {std::array<std::int64_t, 4>{1, 1, 1, 1}, {2, 2, 5, 3}, {4, 2, 8, 7}, {8, 8, 33, 64}}) {
      SCOPED_TRACE(kernels->name);
      Arena arena;
      Context c(arena, *kernels);
      const std::int64_t slots = 40, B = 3;
      const Tensor q = c.upload<float>(normal_values(B * heads * d_k, 1), {B, heads * d_k});
      const Tensor k = c.upload<float>(normal_values(slots * kv_heads * d_k, 2), {slots, kv_heads * d_k});
      const Tensor v = c.upload<float>(normal_values(slots * kv_heads * d_v, 3), {slots, kv_heads * d_v});
      const std::vector<std::vector<std::int32_t>> rows{{7}, {3, 1, 39, 0, 5}, {}};
      std::vector<std::vector<std::int32_t>> own = rows;
      for (std::int32_t j = 0; j < 37; ++j) own[2].push_back((j * 11) % 40);
      std::vector<const std::int32_t*> pointers;
      std::vector<std::int32_t> lengths, all;
      std::vector<RowSpan> spans;
      for (std::int32_t r = 0; r < B; ++r) {
        const auto& row = own[static_cast<std::size_t>(r)];
        pointers.push_back(row.data());
        lengths.push_back(static_cast<std::int32_t>(row.size()));
        spans.push_back({r, 1, static_cast<std::int32_t>(all.size()), lengths.back()});
        all.insert(all.end(), row.begin(), row.end());
      }
      const ops::AttentionOptions o{.num_heads = heads, .num_kv_heads = kv_heads};
      const std::vector<std::int32_t> ones(pointers.size(), 1);
      const auto got =
          host_copy<float>(ops::cached_attention(c, q, {.keys = k, .values = v}, {pointers, lengths, ones}, o));
      const Tensor gathered = c.upload(all);
      const auto expected = host_copy<float>(ops::attention(
          c, {q, ops::embedding(c, k, gathered, 1, -1), ops::embedding(c, v, gathered, 1, -1)}, shared(spans), o));
      ASSERT_EQ(got.size(), expected.size());
      for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], 2e-5) << i;
    }
}

}  // namespace
}  // namespace tril::test
