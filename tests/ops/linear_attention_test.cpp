// linear_attention against plain loops in double.
#include <cmath>

#include "support/attention_rows.h"
#include "support/op_case.h"
#include "support/watcher.h"

namespace tril::test {
namespace {

double feature(double x) {
  return x > 0 ? x + 1 : std::exp(x);
}  // elu(x) + 1

OpCase linear_attention_case(const std::vector<RowSpan>& spans, std::int64_t heads, std::int64_t d_k, std::int64_t d_v,
                             bool causal) {
  return {
      .name = fmt::format("linear attention, {} rows, {} heads, d_k {}, d_v {}, causal {}", spans.size(), heads, d_k,
                          d_v, causal),
      .shapes = {{queries(spans), heads * d_k}, {keys(spans), heads * d_k}, {keys(spans), heads * d_v}},
      .run =
          [=](Context& c, std::span<const Tensor> x) {
            return ops::linear_attention(c, {x[0], x[1], x[2]}, shared(spans), {.num_heads = heads, .causal = causal});
          },
      .reference =
          [=](std::span<const Doubles> x) {
            Doubles y(static_cast<std::size_t>(queries(spans) * heads * d_v));
            for (const RowSpan& r : spans)
              for (std::int64_t h = 0; h < heads; ++h)
                for (std::int64_t i = 0; i < r.q_len; ++i) {
                  Doubles sum(static_cast<std::size_t>(d_v));
                  double all = 0;
                  for (std::int64_t j = 0; j < (causal ? i + 1 : r.k_len); ++j) {
                    double w = 0;
                    for (std::int64_t d = 0; d < d_k; ++d)
                      w += feature(at(x[0], r.q_begin + i, h * d_k + d, heads * d_k)) *
                           feature(at(x[1], r.k_begin + j, h * d_k + d, heads * d_k));
                    all += w;
                    for (std::int64_t d = 0; d < d_v; ++d)
                      sum[static_cast<std::size_t>(d)] += w * at(x[2], r.k_begin + j, h * d_v + d, heads * d_v);
                  }
                  for (std::int64_t d = 0; d < d_v && all > 0; ++d)
                    y[static_cast<std::size_t>((r.q_begin + i) * heads * d_v + h * d_v + d)] =
                        sum[static_cast<std::size_t>(d)] / all;
                }
            return y;
          },
      .columns = {0, 1, 2},
      .tolerance = 2e-5,
      .gradient_tolerance = 1e-4};
}

TEST(LinearAttention, AnswersEveryQuestion) {
  for (const auto& [heads, d_k, d_v] : {std::array<std::int64_t, 3>{1, 1, 1}, {2, 5, 3}, {3, 8, 17}}) {
    check_op(linear_attention_case(self_rows, heads, d_k, d_v, true));
    check_op(linear_attention_case(self_rows, heads, d_k, d_v, false));
    check_op(linear_attention_case(cross_rows, heads, d_k, d_v, false));
  }
  check_op(linear_attention_case({{0, 130, 0, 130}}, 1, 3, 2, true));
  check_op(linear_attention_case({{0, 70, 0, 130}}, 1, 3, 2, false));
  check_op(linear_attention_case({{0, 2, 0, 3}, {3, 2, 0, 3}, {5, 1, 4, 2}}, 2, 3, 2,
                                 false));  // shared keys, and tokens outside of rows
}

TEST(LinearAttention, StepByStepEqualsAllAtOnce) {
  for (const kern::Kernels* kernels : kern::tables())
    for (const auto& [heads, d_k, d_v] : {std::array<std::int64_t, 3>{1, 1, 1}, {2, 5, 3}, {4, 16, 33}}) {
      Arena arena;
      Context c(arena, *kernels);
      const std::int64_t B = 3, T = 70;
      const Tensor q = c.upload<float>(normal_values(B * T * heads * d_k, 1), {B * T, heads * d_k}),
                   k = c.upload<float>(normal_values(B * T * heads * d_k, 2), {B * T, heads * d_k}),
                   v = c.upload<float>(normal_values(B * T * heads * d_v, 3), {B * T, heads * d_v});
      const Rows rows = Rows::rectangle(B, T);
      const auto all = host_copy<float>(
          ops::linear_attention(c, {q, k, v}, ops::spans_of(rows, rows), {.num_heads = heads, .causal = true}));
      const Tensor states = c.zeros({B + 2, ops::linear_attention_state(heads, d_k, d_v)});
      const std::vector<std::int32_t> slots{3, 0, 4};
      std::vector<std::int32_t> at(static_cast<std::size_t>(B), 0);  // tokens that each row has had
      for (std::int32_t step = 0; *std::min_element(at.begin(), at.end()) < T; ++step) {
        Rows next;
        std::vector<std::int32_t> tokens;
        for (std::int32_t b = 0; b < B; ++b) {  // one each, or none of one row and several of another
          auto& begin = at[static_cast<std::size_t>(b)];
          const std::int32_t n = std::min(static_cast<std::int32_t>(T) - begin, step % 3 == 0 ? 1 : (b + step) % 5);
          next.append(n);
          for (std::int32_t t = 0; t < n; ++t) tokens.push_back(b * static_cast<std::int32_t>(T) + begin++);
        }
        const Tensor which = c.upload(tokens);
        const auto pick = [&](const Tensor& x) { return ops::embedding(c, x, which, 1, -1); };
        const auto y = host_copy<float>(
            ops::linear_attention_step(c, {pick(q), pick(k), pick(v)}, next, {{states, slots}, heads}));
        const auto width = static_cast<std::size_t>(heads * d_v);
        for (std::size_t i = 0; i < y.size(); ++i)
          ASSERT_NEAR(y[i], all[static_cast<std::size_t>(tokens[i / width]) * width + i % width], 2e-5) << step;
      }
    }
}

// An observer sees how much a query takes of each value.
TEST(LinearAttention, ItsWeightsMixTheValues) {
  const std::int64_t heads = 2, d_k = 5, d_v = 3;
  for (const bool causal : {true, false}) {
    Arena arena;
    Context c(arena);
    std::vector<Tensor> seen;
    const Watcher watcher(c, "weights", [&](const std::string&, const Tensor& w) { seen.push_back(w); });
    const Rows rows = Rows::rectangle(2, 4);
    const Tensor q = c.upload<float>(normal_values(8 * heads * d_k, 1), {8, heads * d_k}),
                 k = c.upload<float>(normal_values(8 * heads * d_k, 2), {8, heads * d_k}),
                 v = c.upload<float>(normal_values(8 * heads * d_v, 3), {8, heads * d_v});
    const auto y = host_copy<float>(
        ops::linear_attention(c, {q, k, v}, ops::spans_of(rows, rows), {.num_heads = heads, .causal = causal}));
    ASSERT_EQ(seen.size(), 1u);
    EXPECT_EQ(seen[0].shape(), (Shape{2, heads, 4, 4}));
    const auto w = host_copy<float>(seen[0]), values = host_copy<float>(v);
    const auto in = [](std::int64_t i) { return static_cast<std::size_t>(i); };
    for (std::int64_t row = 0; row < 2; ++row)
      for (std::int64_t h = 0; h < heads; ++h)
        for (std::int64_t i = 0; i < 4; ++i)
          for (std::int64_t d = 0; d < d_v; ++d) {
            double mixed = 0;
            for (std::int64_t j = 0; j < 4; ++j) {
              const double weight = w[in(((row * heads + h) * 4 + i) * 4 + j)];
              if (causal && j > i) {
                EXPECT_EQ(weight, 0.0);
              }
              mixed += weight * values[in((row * 4 + j) * heads * d_v + h * d_v + d)];
            }
            EXPECT_NEAR(mixed, y[in((row * 4 + i) * heads * d_v + h * d_v + d)], 1e-5);
          }
  }
}

TEST(LinearAttention, Errors) {
  Arena arena;
  Context c(arena);
  const Tensor q = c.zeros({3, 6}), k = c.zeros({4, 6});
  expect_error(
      [&] {
        ops::linear_attention(c, {q, k, k}, shared({{0, 3, 0, 4}}), {.num_heads = 2, .causal = true});
      },
      "3 queries and 4 keys in a row");
  expect_error(
      [&] {
        ops::linear_attention(c, {q, k, k}, shared({{0, 3, 0, 4}}), {.num_heads = 4, .causal = false});
      },
      "are not divisible by 4 heads");
  expect_error(
      [&] {
        ops::linear_attention(c, {q, k, k}, shared({{0, 3, 0, 5}}), {.num_heads = 2, .causal = false});
      },
      "keys [0, +5) of 3 and 4");
  expect_error(
      [&] {
        ops::linear_attention_step(c, {q, q, q}, Rows::rectangle(3, 1), {{c.zeros({3, 6}), std::vector{0, 1, 2}}, 2});
      },
      "linear_attention_step: states");
  const Tensor states = c.zeros({3, ops::linear_attention_state(2, 3, 3)});
  const auto step = [&](const Rows& rows, const std::vector<std::int32_t>& slots) {
    return [&, rows, slots] { ops::linear_attention_step(c, {q, q, q}, rows, {{states, slots}, 2}); };
  };
  expect_error(step(Rows::rectangle(3, 1), {0, 1, 3}), "row 2 has slot 3 of 3");
  expect_error(step(Rows::rectangle(3, 1), {0, 1, -1}), "row 2 has slot -1 of 3");
  expect_error(step(Rows::rectangle(3, 1), {0, 1}), "2 slots for 3 rows");
  expect_error(step(Rows::rectangle(1, 2), {0}), "3 tokens in rows of 2");
}

}  // namespace
}  // namespace tril::test
