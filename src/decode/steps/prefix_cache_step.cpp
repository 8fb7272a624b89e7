#include "decode/steps/prefix_cache_step.h"

#include <algorithm>

namespace tril::search {

PrefixCacheStep::PrefixCacheStep(std::unique_ptr<Step> inner, nn::KvCache& cache, PrefixCache& prefixes,
                                 std::int64_t beyond, const SentenceAdapters* adapters)
    : StepDecorator(std::move(inner)), cache_(&cache), prefixes_(&prefixes), beyond_(beyond), adapters_(adapters) {}

bool PrefixCacheStep::is_too_long(std::size_t tokens) const {
  return beyond_ > 0 && static_cast<std::int64_t>(tokens) > beyond_;
}

std::int32_t PrefixCacheStep::reuse_prefix(std::int32_t sentence, std::span<const std::int32_t> prompt) {
  if (is_too_long(prompt.size())) return 0;
  std::vector<std::int32_t> slots = prefixes_->find(prompt, adapter_of(sentence));
  const auto n = static_cast<std::int32_t>(slots.size());
  if (n > 0) begun_[sentence] = std::move(slots);
  return n;
}

void PrefixCacheStep::keep_prefix(std::int32_t row, std::span<const std::int32_t> text) {
  const auto read = static_cast<std::size_t>(cache_->length(row));
  const std::size_t prompt =
      prompt_lengths_.empty() ? 0 : static_cast<std::size_t>(prompt_lengths_[static_cast<std::size_t>(row)]);
  if (is_too_long(std::max(read, prompt))) return;
  const std::int32_t adapter = adapter_of(sentences_[static_cast<std::size_t>(row)]);
  prefixes_->keep(row, text.first(std::min(text.size(), read)), adapter);
}

// A row that begins with kept slots is a row of the cache before the inner step sees it, so for that one it goes on. Such rows come
// last, as those of StepInput that begin do, so every row that begins becomes one of the cache here.
StepOutput PrefixCacheStep::step(Context& c, const StepInput& input) {
  prompt_lengths_.assign(input.prompt_lengths.begin(), input.prompt_lengths.end());
  sentences_.assign(input.sentences.begin(), input.sentences.end());
  if (begun_.empty()) return StepDecorator::step(c, input);
  parents_.assign(input.parents.begin(), input.parents.end());
  for (std::size_t r = rows_that_go_on(input); r < parents_.size(); ++r) {
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
