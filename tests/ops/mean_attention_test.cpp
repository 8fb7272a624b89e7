// mean_attention and alignment_loss against plain loops in double.
#include <cmath>

#include "support/op_case.h"

namespace tril::test::mean_attention_test {
namespace {

using kern::RowSpan;

struct Setting {
  std::string name;
  std::vector<RowSpan> spans;
  std::int64_t heads = 1, kv_heads = 1, d_k = 4;
  std::vector<std::int32_t> chosen;
};

ops::Spans shared(const std::vector<RowSpan>& spans) {
  return std::make_shared<const std::vector<RowSpan>>(spans);
}

OpCase mean_case(const Setting& s) {
  OpCase op;
  op.name = s.name;
  std::int64_t queries = 0, keys = 0;
  for (const RowSpan& r : s.spans) {
    queries = std::max<std::int64_t>(queries, r.q_begin + r.q_len);
    keys = std::max<std::int64_t>(keys, r.k_begin + r.k_len);
  }
  op.shapes = {{queries, s.heads * s.d_k}, {keys, s.kv_heads * s.d_k}};
  op.columns = {0, 1};
  op.gradient_tolerance = 1e-4;
  op.run = [s](Context& c, std::span<const Tensor> x) {
    return ops::mean_attention(c, x[0], x[1], shared(s.spans),
                               {.num_heads = s.heads, .num_kv_heads = s.kv_heads, .chosen = s.chosen});
  };
  op.reference = [s](std::span<const Doubles> x) {
    Doubles w;
    std::vector<std::int32_t> heads = s.chosen;
    for (std::int32_t h = 0; s.chosen.empty() && h < s.heads; ++h) heads.push_back(h);
    for (const RowSpan& r : s.spans)
      for (std::int64_t i = 0; i < r.q_len; ++i) {
        Doubles mean(static_cast<std::size_t>(r.k_len));
        for (const std::int64_t h : heads) {
          Doubles p;
          double sum = 0;
          for (std::int64_t j = 0; j < r.k_len; ++j) {
            double score = 0;
            for (std::int64_t d = 0; d < s.d_k; ++d)
              score += at(x[0], r.q_begin + i, h * s.d_k + d, s.heads * s.d_k) *
                       at(x[1], r.k_begin + j, h / (s.heads / s.kv_heads) * s.d_k + d, s.kv_heads * s.d_k);
            p.push_back(std::exp(score / std::sqrt(static_cast<double>(s.d_k))));
            sum += p.back();
          }
          for (std::size_t j = 0; j < p.size(); ++j) mean[j] += p[j] / sum / static_cast<double>(heads.size());
        }
        w.insert(w.end(), mean.begin(), mean.end());
      }
    return w;
  };
  return op;
}

const std::vector<RowSpan> rows{{0, 2, 0, 5}, {2, 0, 5, 2}, {2, 3, 7, 1}, {5, 4, 8, 19}};

TEST(MeanAttention, HeadsAndSizes) {
  for (const auto& [heads, kv_heads, d_k] :
       {std::array<std::int64_t, 3>{1, 1, 1}, {2, 2, 5}, {4, 2, 4}, {3, 1, 8}, {2, 2, 33}, {4, 4, 17}})
    check_op(mean_case({.name = fmt::format("{} heads, {} for keys, d_k {}", heads, kv_heads, d_k),
                        .spans = rows,
                        .heads = heads,
                        .kv_heads = kv_heads,
                        .d_k = d_k}));
  check_op(mean_case({.name = "one head of three", .spans = rows, .heads = 3, .kv_heads = 3, .chosen = {1}}));
  check_op(mean_case({.name = "two heads of four", .spans = rows, .heads = 4, .kv_heads = 2, .chosen = {3, 0}}));
  check_op(mean_case(
      {.name = "shared keys", .spans = {{0, 2, 0, 3}, {2, 2, 0, 3}, {4, 1, 3, 2}}, .heads = 2, .kv_heads = 2}));
}

TEST(MeanAttention, HeadsThatAreNotThere) {
  Arena arena;
  Context c(arena);
  const Tensor x = c.zeros({1, 4});
  const ops::Spans spans = shared({{0, 1, 0, 1}});
  for (const std::vector<std::int32_t>& chosen : {std::vector<std::int32_t>{2}, {-1}, {0, 0}})
    expect_error([&] { ops::mean_attention(c, x, x, spans, {.num_heads = 2, .chosen = chosen}); }, "head");
  expect_error([&] { ops::mean_attention(c, x, x, shared({{0, 1, 0, 2}}), {.num_heads = 2}); }, "keys [0, +2)");
}

// Weights are softmax(x) of each query here, so that they are above zero and sum to 1.
OpCase loss_case(ops::AlignmentCost cost, const std::string& name, const std::vector<RowSpan>& spans) {
  OpCase op;
  op.name = name;
  std::int64_t queries = 0, keys = 0;
  for (const RowSpan& r : spans) queries += r.q_len, keys += r.k_len;
  op.shapes = {{queries, 3}, {keys, 3}};
  op.gradient_tolerance = 1e-4;
  Doubles wanted;  // every third query has none
  std::int64_t query = 0;
  for (const RowSpan& r : spans)
    for (std::int64_t i = 0; i < r.q_len; ++i, ++query)
      for (std::int64_t j = 0; j < r.k_len; ++j) {
        const std::int64_t many = std::min<std::int64_t>(2, r.k_len);
        wanted.push_back(query % 3 != 2 && (j + query) % r.k_len < many ? 1.0 / static_cast<double>(many) : 0.0);
      }
  const Setting setting{.name = name, .spans = spans, .d_k = 3};
  op.run = [=](Context& c, std::span<const Tensor> x) {
    const Tensor w = ops::mean_attention(c, x[0], x[1], shared(spans), {});
    const Tensor a = c.upload(std::vector<float>(wanted.begin(), wanted.end()));
    return ops::alignment_loss(c, w, a, shared(spans), {cost, 4});
  };
  op.reference = [=](std::span<const Doubles> x) {
    const Doubles w = mean_case(setting).reference(x);
    double sum = 0;
    std::size_t at = 0;
    for (const RowSpan& r : spans)
      for (std::int64_t i = 0; i < r.q_len; ++i) {
        double total = 0, hit = 0, ce = 0, mse = 0;
        for (std::int64_t j = 0; j < r.k_len; ++j, ++at) {
          total += wanted[at], hit += wanted[at] * w[at];
          ce -= wanted[at] * std::log(w[at] + 1e-6);
          mse += std::pow(w[at] - wanted[at], 2) / 2;
        }
        if (total == 0) continue;
        sum += cost == ops::AlignmentCost::ce ? ce : cost == ops::AlignmentCost::mse ? mse : -std::log(hit + 1e-6);
      }
    return Doubles{sum / 4};
  };
  return op;
}

TEST(AlignmentLoss, AllCosts) {
  check_op(loss_case(ops::AlignmentCost::ce, "ce", rows));
  check_op(loss_case(ops::AlignmentCost::mse, "mse", rows));
  check_op(loss_case(ops::AlignmentCost::mult, "mult", rows));
}

TEST(AlignmentLoss, IsLeastWhereAttentionIsWhatIsWanted) {
  Arena arena;
  Context c(arena);
  const ops::Spans spans = shared({{0, 1, 0, 2}});
  const Tensor wanted = c.upload(std::vector<float>{0, 1}), right = c.upload(std::vector<float>{0, 1}),
               wrong = c.upload(std::vector<float>{0.9f, 0.1f});
  for (const ops::AlignmentCost cost : {ops::AlignmentCost::ce, ops::AlignmentCost::mse, ops::AlignmentCost::mult}) {
    EXPECT_NEAR(host_copy<float>(ops::alignment_loss(c, right, wanted, spans, {cost, 1}))[0], 0, 1e-5);
    EXPECT_GT(host_copy<float>(ops::alignment_loss(c, wrong, wanted, spans, {cost, 1}))[0], 0.5);
  }
  expect_error([&] { ops::alignment_loss(c, right, c.zeros({3}), spans, {ops::AlignmentCost::ce, 1}); }, "wanted");
}

}  // namespace
}  // namespace tril::test::mean_attention_test
