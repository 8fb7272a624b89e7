#include "decode/steps/row_texts.h"

namespace tril::search {

void RowTexts::begin(std::int32_t sentence, std::span<const std::int32_t> tokens) {
  begun_[sentence] = {tokens.begin(), tokens.end()};
}

void RowTexts::follow(const StepInput& input) {
  next_.resize(input.counts.size());
  auto fresh = input.ids.begin();
  for (std::size_t r = 0; r < next_.size(); ++r) {
    next_[r].clear();
    if (input.parents[r] >= 0)
      next_[r] = texts_[input.parents[r]];
    else if (const auto begun = begun_.find(input.sentences[r]); begun != begun_.end())
      next_[r] = begun->second;
    if (!input.cuts.empty()) next_[r].resize(next_[r].size() - input.cuts[r]);
    next_[r].insert(next_[r].end(), fresh, fresh + input.counts[r]);
    fresh += input.counts[r];
  }
  texts_.swap(next_);
  begun_.clear();
}

}  // namespace tril::search
