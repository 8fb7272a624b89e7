#include "decode/steps/recompute_step.h"

namespace tril::search {

StepOutput RecomputeStep::step(Context& c, const StepInput& input) {
  texts_.follow(input);
  ids_.clear(), counts_.clear();
  for (std::size_t r = 0; r < texts_.rows(); ++r) {
    ids_.insert(ids_.end(), texts_[r].begin(), texts_[r].end());
    counts_.push_back(static_cast<std::int32_t>(texts_[r].size()));
  }
  parents_.assign(counts_.size(), -1);
  StepInput whole = input;
  whole.ids = ids_, whole.counts = counts_, whole.parents = parents_, whole.cuts = {};
  return StepDecorator::step(c, whole);
}

}  // namespace tril::search
