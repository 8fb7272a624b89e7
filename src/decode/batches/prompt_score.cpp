#include "decode/batches/prompt_score.h"

#include <algorithm>
#include <limits>

#include "search/processors.h"

namespace tril::search {
namespace {

constexpr std::int64_t rows_at_a_time = 64;  // limits the memory for logits

}  // namespace

std::vector<TokenScore> prompt_scores(Context& c, const model::Model& model, std::span<const std::int32_t> ids,
                                      std::int32_t top, std::int64_t tokens) {
  std::vector<TokenScore> scores;
  if (ids.size() < 2) return scores;
  const auto N = std::ssize(ids) - 1;
  const auto k = std::min({std::int64_t{top}, model.vocab_size(), tokens});
  Rows rows;
  rows.append(static_cast<std::int32_t>(N));
  const Tensor hidden = model.decode(c, {.ids = ids.first(ids.size() - 1), .rows = std::move(rows), .memory_rows = {}});
  for (std::int64_t begin = 0; begin < N; begin += rows_at_a_time) {
    const std::int64_t n = std::min(rows_at_a_time, N - begin);
    Tensor logits = model::logits(c, model, hidden.rows(begin, begin + n)), sums = c.empty({n});
    const std::int64_t V = logits.size(1);
    c.kernels().log_sum_exp(logits.data<float>(), sums.data<float>(), n, V);
    const std::vector<float> sum = host_copy<float>(sums);
    std::vector<float> values;
    std::vector<std::int32_t> best;
    if (k > 0) {
      if (tokens < V)
        for (float* row = logits.data<float>(); row < logits.data<float>() + logits.count(); row += V)
          std::fill(row + tokens, row + V, -std::numeric_limits<float>::infinity());
      Tensor value = c.empty({n, k}), id = c.empty({n, k}, DType::i32);
      c.kernels().top_k(logits.data<float>(), n, V, k, value.data<float>(), id.data<std::int32_t>());
      values = host_copy<float>(value), best = host_copy<std::int32_t>(id);
    }
    const StepLogits each(c, logits, {});
    for (std::int64_t r = 0; r < n; ++r) {
      TokenScore score{each.at(r, ids.subspan(begin + r + 1, 1))[0] - sum[r], {}};
      for (std::int64_t i = r * k; i < (r + 1) * k; ++i) score.top.push_back({values[i] - sum[r], best[i]});
      scores.push_back(std::move(score));
    }
  }
  return scores;
}

}  // namespace tril::search
