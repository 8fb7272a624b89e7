#include "decode/batches/draft_model.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tril::search {
namespace {

std::size_t common_prefix(std::span<const std::int32_t> a, std::span<const std::int32_t> b) {
  std::size_t n = 0;
  while (n < a.size() && n < b.size() && a[n] == b[n]) ++n;
  return n;
}

}  // namespace

DraftModel::DraftModel(std::unique_ptr<Step> step, std::int64_t positions, float min_prob)
    : step_(std::move(step)), positions_(positions), min_prob_(min_prob) {}

DraftModel::Next DraftModel::take(Context& c, const StepInput& input) {
  const Tensor logits = step_->step(c, input).logits;
  const auto [R, V] = logits.dims<2>("logits");
  Tensor values = c.empty({R, 1}), ids = c.empty({R, 1}, DType::i32);
  c.kernels().top_k(logits.data<float>(), R, V, 1, values.data<float>(), ids.data<std::int32_t>());
  Next next{host_copy<std::int32_t>(ids), std::vector<float>(R, 1.0f)};
  if (min_prob_ <= 0) return next;
  Tensor sums = c.empty({R});
  c.kernels().log_sum_exp(logits.data<float>(), sums.data<float>(), R, V);
  const std::vector<float> most = host_copy<float>(values), sum = host_copy<float>(sums);
  for (std::size_t r = 0; r < most.size(); ++r) next.probabilities[r] = std::exp(most[r] - sum[r]);
  return next;
}

void DraftModel::propose(Context& c, const Drafts& rows, std::vector<std::vector<std::int32_t>>& proposals) {
  const std::size_t n = rows.tokens.size();
  proposals.assign(n, {});
  std::int64_t longest = 0;
  std::int32_t most = 0;
  for (std::size_t r = 0; r < n; ++r) {
    longest = std::max(longest, std::ssize(rows.tokens[r]));
    most = std::max(most, rows.most[r]);
  }
  if (positions_ > 0) most = static_cast<std::int32_t>(std::min<std::int64_t>(most, positions_ - longest + 1));
  if (most <= 0) return;

  // Reads the tokens that are new since the last call, and cuts rejected proposals off.
  std::vector<std::int32_t> ids, counts, parents, cuts;
  std::vector<std::vector<std::int32_t>> read(n);
  for (std::size_t r = 0; r < n; ++r) {
    const auto at = std::find(sentences_.begin(), sentences_.end(), rows.sentences[r]);
    const bool known = at != sentences_.end();
    if (known) read[r] = std::move(read_[at - sentences_.begin()]);
    const std::size_t same = std::min(common_prefix(read[r], rows.tokens[r]), rows.tokens[r].size() - 1);
    parents.push_back(known ? static_cast<std::int32_t>(at - sentences_.begin()) : -1);
    cuts.push_back(static_cast<std::int32_t>(read[r].size() - same));
    counts.push_back(static_cast<std::int32_t>(rows.tokens[r].size() - same));
    ids.insert(ids.end(), rows.tokens[r].begin() + static_cast<std::ptrdiff_t>(same), rows.tokens[r].end());
    read[r].assign(rows.tokens[r].begin(), rows.tokens[r].end());
  }
  sentences_.assign(rows.sentences.begin(), rows.sentences.end());
  read_ = std::move(read);
  Next next = take(
      c, {.ids = ids, .counts = counts, .parents = parents, .sentences = rows.sentences, .cuts = cuts, .answers = {}});
  counts.assign(n, 1);
  for (std::size_t r = 0; r < n; ++r) parents[r] = static_cast<std::int32_t>(r);
  std::vector<bool> ended(n, false);  // rows that are complete; they are still read while others continue
  for (std::int32_t i = 1;; ++i) {
    bool all_ended = true;
    for (std::size_t r = 0; r < n; ++r) {
      const bool end = std::find(rows.ends.begin(), rows.ends.end(), next.tokens[r]) != rows.ends.end();
      if (!ended[r] && !end && i <= rows.most[r]) proposals[r].push_back(next.tokens[r]);
      ended[r] = ended[r] || end || i >= rows.most[r] || next.probabilities[r] < min_prob_;
      all_ended &= ended[r];
    }
    if (all_ended || i == most) return;
    for (std::size_t r = 0; r < n; ++r) read_[r].push_back(next.tokens[r]);
    next = take(c, {.ids = next.tokens,
                    .counts = counts,
                    .parents = parents,
                    .sentences = rows.sentences,
                    .cuts = {},
                    .answers = {}});
  }
}

}  // namespace tril::search
