#include "decode/steps/prefix_cache_step.h"

#include <algorithm>

namespace tril::search {

PrefixCacheStep::PrefixCacheStep(std::unique_ptr<Step> inner, nn::KvCache& cache, PrefixCache& prefixes,
                                 std::int64_t beyond, const SentenceAdapters* adapters)
    : StepDecorator(std::move(inner)), cache_(&cache), prefixes_(&prefixes), beyond_(beyond), adapters_(adapters) {}

bool PrefixCacheStep::is_too_long(std::int64_t tokens) const {
  return beyond_ > 0 && tokens > beyond_;
}

std::int32_t PrefixCacheStep::reuse_prefix(std::int32_t sentence, std::span<const std::int32_t> prompt) {
  if (is_too_long(std::ssize(prompt))) return 0;
  std::vector<std::int32_t> slots = prefixes_->find(prompt, adapter_of(sentence));
  const auto n = static_cast<std::int32_t>(slots.size());
  if (n > 0) begun_[sentence] = std::move(slots);
  return n;
}

void PrefixCacheStep::keep_prefix(std::int32_t row, std::span<const std::int32_t> text) {
  const std::int32_t read = cache_->length(row), prompt = prompt_lengths_.empty() ? 0 : prompt_lengths_[row];
  if (is_too_long(std::max(read, prompt))) return;
  const std::int32_t adapter = adapter_of(sentences_[row]);
  prefixes_->keep(row, text.first(std::min<std::int64_t>(std::ssize(text), read)), adapter);
}

// Adds new rows to the KV cache here, with their cached prefixes, so that the inner step sees them as continued rows. It adds all
// new rows, with and without prefix, because the cache's rows must have the order of the step's.
StepOutput PrefixCacheStep::step(Context& c, const StepInput& input) {
  prompt_lengths_.assign(input.prompt_lengths.begin(), input.prompt_lengths.end());
  sentences_.assign(input.sentences.begin(), input.sentences.end());
  if (begun_.empty()) return StepDecorator::step(c, input);
  parents_.assign(input.parents.begin(), input.parents.end());
  for (std::int64_t r = continued_rows(input); r < std::ssize(parents_); ++r) {
    const auto begun = begun_.find(input.sentences[r]);
    parents_[r] = static_cast<std::int32_t>(cache_->rows());
    cache_->add_row(begun == begun_.end() ? std::span<const std::int32_t>{} : begun->second);
  }
  begun_.clear();
  StepInput begins = input;
  begins.parents = parents_;
  return StepDecorator::step(c, begins);
}

}  // namespace tril::search
