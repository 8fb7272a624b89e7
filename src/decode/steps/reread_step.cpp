#include "decode/steps/reread_step.h"

namespace tril::search {

std::int32_t RereadStep::reuse_prefix(std::int32_t sentence, std::span<const std::int32_t> prompt) {
  const std::int32_t n = StepDecorator::reuse_prefix(sentence, prompt);
  texts_.begin(sentence, prompt.first(n));
  return n;
}

// True if the row is longer than beyond_, but its prompt is not. A longer prompt has the other angles from its first token.
bool RereadStep::has_grown_beyond(const StepInput& input, std::size_t row) const {
  return std::ssize(texts_[row]) > beyond_ && input.prompt_lengths[row] <= beyond_;
}

StepOutput RereadStep::step(Context& c, const StepInput& input) {
  texts_.follow(input);
  if (input.prompt_lengths.empty()) return StepDecorator::step(c, input);  // each row counts as one prompt
  bool any = false;
  for (std::size_t r = 0; r < texts_.rows(); ++r) any |= has_grown_beyond(input, r);
  if (!any) return StepDecorator::step(c, input);

  ids_.clear(), counts_.clear(), cuts_.clear(), prompt_lengths_.clear();
  auto fresh = input.ids.begin();
  for (std::size_t r = 0; r < texts_.rows(); ++r) {
    const std::span<const std::int32_t> text = texts_[r];
    const auto end = static_cast<std::int32_t>(text.size());
    const std::int32_t count = input.counts[r], start = end - count, cut = input.cuts.empty() ? 0 : input.cuts[r];
    const bool grown = has_grown_beyond(input, r), anew = grown && start > 0 && start <= beyond_;
    if (anew)
      ids_.insert(ids_.end(), text.begin(), text.end());
    else
      ids_.insert(ids_.end(), fresh, fresh + count);
    fresh += count;
    counts_.push_back(anew ? end : count);
    cuts_.push_back(anew ? start + cut : cut);
    prompt_lengths_.push_back(grown ? end : input.prompt_lengths[r]);
  }
  StepInput changed = input;
  changed.ids = ids_, changed.counts = counts_, changed.cuts = cuts_, changed.prompt_lengths = prompt_lengths_;
  return StepDecorator::step(c, changed);
}

}  // namespace tril::search
