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

// Without what only the search itself reports.
SearchPlan unwatched(SearchPlan options) {
  options.top_log_probs = 0, options.observed_tokens = 0;
  return options;
}

}  // namespace

DraftModel::DraftModel(const SearchPlan& options, std::unique_ptr<Step> step, std::int64_t positions, float min_prob)
    : step_(std::move(step)),
      positions_(positions),
      least_log_prob_(min_prob > 0 ? std::log(static_cast<double>(min_prob)) : -HUGE_VAL),
      finder_(unwatched(options), step_->vocab_size(), 1, /*scores=*/min_prob > 0) {}

std::vector<Candidate> DraftModel::next(Context& c, const StepInput& input, std::span<const Request* const> requests) {
  const StepOutput output = step_->step(c, input);
  std::vector<RowView> views;
  for (std::size_t r = 0; r < read_.size(); ++r) views.push_back({read_[r], requests[r]});
  const std::span<const Candidate> found = finder_.find(c, output, views);
  return {found.begin(), found.end()};
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
  std::vector<Candidate> best = next(
      c, {.ids = ids, .counts = counts, .parents = parents, .sentences = rows.sentences, .cuts = cuts, .answers = {}},
      rows.requests);
  counts.assign(n, 1);
  for (std::size_t r = 0; r < n; ++r) parents[r] = static_cast<std::int32_t>(r);
  std::vector<bool> ended(n, false);  // rows that are complete; they are still read while others continue
  for (std::int32_t i = 1;; ++i) {
    bool all_ended = true;
    for (std::size_t r = 0; r < n; ++r) {
      const std::int32_t token = best[r].token;
      const bool end = token < 0 || std::find(rows.ends.begin(), rows.ends.end(), token) != rows.ends.end();
      if (!ended[r] && !end && i <= rows.most[r]) proposals[r].push_back(token);
      ended[r] = ended[r] || end || i >= rows.most[r] || best[r].log_prob < least_log_prob_;
      all_ended &= ended[r];
    }
    if (all_ended || i == most) return;
    ids.clear();
    for (std::size_t r = 0; r < n; ++r) {
      ids.push_back(std::max(best[r].token, 0));  // an ended row reads any token
      read_[r].push_back(ids.back());
    }
    best = next(
        c, {.ids = ids, .counts = counts, .parents = parents, .sentences = rows.sentences, .cuts = {}, .answers = {}},
        rows.requests);
  }
}

}  // namespace tril::search
