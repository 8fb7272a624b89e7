#include "decode/steps/shortlist_step.h"

#include <algorithm>
#include <limits>

#include "ops/softcap.h"

namespace tril::search {

StepOutput ShortlistStep::step(Context& c, const StepInput& input) {
  StepInput of_inner = input;
  if (input.wanted != Wanted::nothing) of_inner.wanted = Wanted::hidden;
  StepOutput output = StepDecorator::step(c, of_inner);
  if (input.wanted == Wanted::nothing) return output;

  std::vector<std::int32_t> sentences;  // of each answer
  for (std::size_t r = 0; r < input.sentences.size(); ++r)
    sentences.insert(sentences.end(), input.answers.empty() ? 1 : input.answers[r], input.sentences[r]);
  choose_columns(c, sentences, output);
  const Tensor products = ops::linear(c, output.hidden, weight_, bias_);
  const Tensor logits = output.softcap > 0 ? ops::softcap(c, products, output.softcap) : products;
  std::int64_t place = -1;
  for (std::int64_t r = 0; r < std::ssize(sentences); ++r) {
    if (r == 0 || sentences[r] != sentences[r - 1]) ++place;
    c.kernels().axpy(1.0f, masks_.rows(place, place + 1).data<float>(), logits.rows(r, r + 1).data<float>(),
                     columns_.size());
  }
  return {.logits = logits, .columns = columns_, .attention = std::move(output.attention)};
}

// Makes columns_ the union of the lists. A sentence's tokens from other lists are masked, so that its result does not depend on
// other sentences.
void ShortlistStep::choose_columns(Context& c, std::span<const std::int32_t> sentences, const StepOutput& projection) {
  std::vector<std::int32_t> distinct(sentences.begin(), sentences.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());  // equal numbers are adjacent
  if (distinct == chosen_for_) return;
  chosen_for_ = std::move(distinct);
  columns_.clear();
  for (const std::int32_t s : chosen_for_) {
    const auto& list = lists_[s];
    columns_.insert(columns_.end(), list.begin(), list.end());
  }
  std::sort(columns_.begin(), columns_.end());
  columns_.erase(std::unique(columns_.begin(), columns_.end()), columns_.end());

  const auto n = std::ssize(columns_);
  const Tensor ids = c.upload(columns_);
  weight_ = ops::rows_of(c, projection.weight, ids);
  if (projection.bias) bias_ = ops::rows_of(c, projection.bias.reshape({projection.bias.count(), 1}), ids).reshape({n});

  std::vector<float> masks;
  for (const std::int32_t s : chosen_for_) {
    const auto& list = lists_[s];
    auto next = list.begin();
    for (const std::int32_t id : columns_) {
      const bool has = next != list.end() && *next == id;
      masks.push_back(has ? 0.0f : -std::numeric_limits<float>::infinity());
      if (has) ++next;
    }
  }
  masks_ = c.upload<float>(masks, {std::ssize(chosen_for_), n});
}

}  // namespace tril::search
