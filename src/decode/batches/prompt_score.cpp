#include "decode/batches/prompt_score.h"

#include <algorithm>
#include <limits>

#include "search/processors.h"

namespace tril::search {
namespace {

constexpr std::int64_t rows_at_a_time = 64;  // whose logits are in memory together

}  // namespace

std::vector<TokenScore> prompt_scores(Context& c, const model::Model& model, std::span<const std::int32_t> ids,
                                      std::int32_t top, std::int64_t tokens) {
  std::vector<TokenScore> scores;
  if (ids.size() < 2) return scores;
  const auto N = static_cast<std::int64_t>(ids.size()) - 1;
  const auto k = static_cast<std::int64_t>(std::min({std::int64_t{top}, model.vocab_size(), tokens}));
  Rows rows;
  rows.append(static_cast<std::int32_t>(N));
  const Tensor hidden = model.decode(c, {.ids = ids.first(ids.size() - 1), .rows = std::move(rows), .memory_rows = {}});
  for (std::int64_t begin = 0; begin < N; begin += rows_at_a_time) {
    const std::int64_t n = std::min(rows_at_a_time, N - begin);
    Tensor logits = model::logits(c, model, hidden.rows(begin, begin + n)), sums = c.empty({n});
    const auto V = static_cast<std::size_t>(logits.size(1));
    c.kernels().log_sum_exp(logits.data<float>(), sums.data<float>(), static_cast<std::size_t>(n), V);
    const std::vector<float> sum = host_copy<float>(sums);
    std::vector<float> values;
    std::vector<std::int32_t> best;
    if (k > 0) {
      if (static_cast<std::size_t>(tokens) < V)
        for (float* row = logits.data<float>(); row < logits.data<float>() + logits.count(); row += V)
          std::fill(row + tokens, row + V, -std::numeric_limits<float>::infinity());
      Tensor value = c.empty({n, k}), id = c.empty({n, k}, DType::i32);
      c.kernels().top_k(logits.data<float>(), static_cast<std::size_t>(n), V, static_cast<std::size_t>(k),
                        value.data<float>(), id.data<std::int32_t>());
      values = host_copy<float>(value), best = host_copy<std::int32_t>(id);
    }
    const StepLogits each(c, logits, {});
    for (std::int64_t r = 0; r < n; ++r) {
      const auto at = static_cast<std::size_t>(r);
      TokenScore score{each.at(r, ids.subspan(static_cast<std::size_t>(begin + r) + 1, 1))[0] - sum[at], {}};
      for (std::size_t i = at * static_cast<std::size_t>(k); i < (at + 1) * static_cast<std::size_t>(k); ++i)
        score.top.push_back({values[i] - sum[at], best[i]});
      scores.push_back(std::move(score));
    }
  }
  return scores;
}

}  // namespace tril::search
