#include "search/likely_tokens.h"

#include <algorithm>
#include <cmath>

namespace tril::search {

std::vector<LikelyToken> likely_tokens(Context& c, const Tensor& logits, std::span<const float> log_sums,
                                       std::int32_t n, std::span<const std::int32_t> columns) {
  const auto [R, V] = logits.dims<2>("logits");
  const std::int64_t k = std::min<std::int64_t>(n, V);  // there may be fewer columns
  Tensor values = c.empty({R, k});
  Tensor ids = c.empty({R, k}, DType::i32);
  c.kernels().top_k(logits.data<float>(), R, V, k, values.data<float>(), ids.data<std::int32_t>());
  const std::vector<float> value = host_copy<float>(values);
  const std::vector<std::int32_t> id = host_copy<std::int32_t>(ids);
  std::vector<LikelyToken> tokens(static_cast<std::size_t>(R * n));
  for (std::int64_t r = 0; r < R; ++r)
    for (std::int64_t i = 0; i < k; ++i) {
      const std::int32_t column = id[r * k + i];
      tokens[r * n + i] = {.log_prob = value[r * k + i] - (log_sums.empty() ? 0.0f : log_sums[r]),
                           .token = columns.empty() ? column : columns[column]};
    }
  return tokens;
}

std::vector<LikelyToken> likely_tokens(const ops::Best& best) {
  const std::vector<float> value = host_copy<float>(best.values), sum = host_copy<float>(best.log_sums);
  const std::vector<std::int32_t> id = host_copy<std::int32_t>(best.ids);
  std::vector<LikelyToken> tokens(id.size());
  for (std::size_t i = 0; i < id.size(); ++i)
    tokens[i] = {.log_prob = value[i] - sum[i / (id.size() / sum.size())], .token = id[i]};
  return tokens;
}

void mark_forbidden(const StepLogits& logits, std::span<LikelyToken> tokens) {
  const std::size_t n = tokens.size() / static_cast<std::size_t>(logits.rows());
  std::vector<std::int32_t> ids;
  std::vector<LikelyToken*> marked;
  for (std::size_t r = 0; n > 0 && r < static_cast<std::size_t>(logits.rows()); ++r) {
    ids.clear(), marked.clear();
    for (LikelyToken& t : tokens.subspan(r * n, n))
      if (t.token >= 0) ids.push_back(t.token), marked.push_back(&t);
    const std::vector<float> now = logits.at(static_cast<std::int64_t>(r), ids);
    for (std::size_t i = 0; i < ids.size(); ++i) marked[i]->forbidden = now[i] == -INFINITY;
  }
}

}  // namespace tril::search
