#include "decode/steps/shortlist.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace tril::search {
namespace {

void sort_unique(std::vector<std::int32_t>& ids) {
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
}

}  // namespace

Shortlist::Shortlist(const LexicalTable& table, const ShortlistOptions& o, const SearchPlan& search) {
  std::vector<std::int32_t> frequent(table.share.size());
  std::iota(frequent.begin(), frequent.end(), 0);
  std::stable_sort(frequent.begin(), frequent.end(),
                   [&](std::int32_t a, std::int32_t b) { return table.share[a] > table.share[b]; });
  frequent.resize(std::min<std::int64_t>(std::ssize(frequent), o.first));
  always_ = std::move(frequent);
  always_.insert(always_.end(), search.eos_ids.begin(), search.eos_ids.end());
  for (const std::int32_t id : {search.forced_bos_id, search.forced_eos_id})
    if (id >= 0) always_.push_back(id);
  for (const auto& [id, bias] : search.logit_bias)
    if (bias > 0) always_.push_back(id);
  sort_unique(always_);

  of_source_.resize(table.of_source.size());
  for (std::size_t s = 0; s < of_source_.size(); ++s) {
    for (const LexicalTable::Entry& e : table.of_source[s])
      if (std::ssize(of_source_[s]) < o.best && static_cast<double>(e.probability) >= o.threshold)
        of_source_[s].push_back(e.target);
    sort_unique(of_source_[s]);
  }
}

IdList Shortlist::of(std::span<const std::int32_t> source, const Request& request) const {
  std::vector<std::int32_t> ids = always_;
  for (const std::int32_t s : source) {
    const auto& more = of_source_.at(s);
    ids.insert(ids.end(), more.begin(), more.end());
  }
  if (request.forced_first >= 0) ids.push_back(request.forced_first);
  for (const std::vector<std::int32_t>& phrase : request.phrases) ids.insert(ids.end(), phrase.begin(), phrase.end());
  sort_unique(ids);
  return std::make_shared<const std::vector<std::int32_t>>(std::move(ids));
}

}  // namespace tril::search
