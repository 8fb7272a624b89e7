#include "search/search.h"

#include <algorithm>

#include "base/error.h"
#include "search/beam_search.h"
#include "search/sampling_search.h"
#include "search/search_observer.h"

namespace tril::search {

bool is_eos(const SearchPlan& o, std::int32_t token) {
  return std::find(o.eos_ids.begin(), o.eos_ids.end(), token) != o.eos_ids.end();
}

void show(SearchObserver& observer, std::span<const LikelyToken> observed, std::int32_t rows) {
  const std::size_t each = observed.size() / static_cast<std::size_t>(rows);
  for (std::int32_t row = 0; row < rows && each > 0; ++row) observer.see(row, observed.subspan(row * each, each));
}

void check_lengths(const Request& r) {
  check(r.max_length >= 1, "maximum length", "expected at least 1, got {}", r.max_length);
  check(r.min_length >= 0 && r.min_length <= r.max_length, "minimum length",
        "expected 0 to the maximum length of {}, got {}", r.max_length, r.min_length);
}

std::unique_ptr<Search> make_search(const SearchPlan& options) {
  if (options.has_beam()) return std::make_unique<BeamSearch>(options);
  return std::make_unique<SamplingSearch>(options);
}

std::int32_t candidates_per_row(const SearchPlan& options) {
  return options.has_beam() ? BeamSearch::candidates_per_row(options) : SamplingSearch::candidates_per_row(options);
}

}  // namespace tril::search
