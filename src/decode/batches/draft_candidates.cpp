#include "decode/batches/draft_candidates.h"

namespace tril::search {
namespace {

// More plans than are used at the same time, mostly.
constexpr std::size_t most_plans = 64;

// Without what only the search itself reports.
SearchPlan unwatched(SearchPlan plan) {
  plan.top_log_probs = -1, plan.observed_tokens = 0;
  return plan;
}

}  // namespace

CandidateFinder& DraftCandidates::finder_of(const std::shared_ptr<const SearchPlan>& plan) {
  for (auto& [known, finder] : finders_)
    if (known == plan) return finder;
  if (finders_.size() >= most_plans) finders_.clear();
  return finders_.emplace_back(plan, CandidateFinder(unwatched(*plan), vocab_size_, 1, scores_)).second;
}

std::vector<Candidate> DraftCandidates::find(Context& c, const Tensor& logits, std::span<const Row> rows) {
  std::vector<Candidate> found;
  for (std::size_t first = 0, end = 0; first < rows.size(); first = end) {
    std::vector<RowView> views;  // of consecutive rows with the same plan
    for (; end < rows.size() && rows[end].plan == rows[first].plan; ++end)
      views.push_back({rows[end].tokens, rows[end].request});
    CandidateFinder& finder = finder_of(rows[first].plan);
    const Tensor part = logits.rows(static_cast<std::int64_t>(first), static_cast<std::int64_t>(end));
    const std::span<const Candidate> best = finder.find(c, part, views);
    for (std::size_t i = 0; i < views.size(); ++i) found.push_back(best[i * static_cast<std::size_t>(finder.k())]);
  }
  return found;
}

}  // namespace tril::search
