#include "decode/steps/shortlist_step.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "ops/softcap.h"

namespace tril::search {

StepOutput ShortlistStep::step(Context& c, const StepInput& input) {
  if (input.wanted == Wanted::nothing || !has_lists(input)) {
    projections_.clear();
    return StepDecorator::step(c, input);
  }
  StepInput of_inner = input;
  of_inner.wanted = Wanted::hidden;
  StepOutput output = StepDecorator::step(c, of_inner);
  choose_parts(c, input, output);
  if (input.wanted == Wanted::candidates && output.softcap <= 0)
    return {.hidden = output.hidden, .parts = parts_, .attention = std::move(output.attention)};
  choose_columns();
  return {.logits = logits(c, output), .columns = columns_, .attention = std::move(output.attention)};
}

bool ShortlistStep::has_lists(const StepInput& input) const {
  return std::any_of(input.sentences.begin(), input.sentences.end(), [&](std::int32_t s) { return lists_->of(s); });
}

// Makes parts_ those of the step's answers. A sentence's rows of the output matrix are kept while it is decoded.
void ShortlistStep::choose_parts(Context& c, const StepInput& input, const StepOutput& whole) {
  std::erase_if(projections_, [&](const auto& known) {
    return std::find(input.sentences.begin(), input.sentences.end(), known.first) == input.sentences.end();
  });
  parts_.clear();
  for (std::size_t r = 0; r < input.sentences.size(); ++r) {
    const std::int32_t sentence = input.sentences[r];
    const std::int64_t answers = input.answers.empty() ? 1 : input.answers[r];
    if (r > 0 && input.sentences[r - 1] == sentence) {
      parts_.back().rows += answers;
      continue;
    }
    const Projection& p = projection(c, sentence, whole);
    parts_.push_back({.rows = answers, .w = p.weight, .b = p.bias});
    if (p.ids) parts_.back().ids = *p.ids;
  }
  std::erase_if(parts_, [](const ops::OutputPart& part) { return part.rows == 0; });
}

const ShortlistStep::Projection& ShortlistStep::projection(Context& c, std::int32_t sentence, const StepOutput& whole) {
  const IdList list = lists_->of(sentence);
  Projection& p = projections_[sentence];
  if (!list) return p = {.ids = nullptr, .weight = whole.weight, .bias = whole.bias};
  if (p.ids == list) return p;
  const Tensor ids = c.upload(*list);
  Projection fresh{.ids = list, .weight = ops::select_rows(c, whole.weight, ids), .bias = {}};
  if (whole.bias)
    fresh.bias = ops::rows_of(c, whole.bias.reshape({whole.bias.count(), 1}), ids).reshape({std::ssize(*list)});
  return p = std::move(fresh);
}

void ShortlistStep::choose_columns() {
  columns_.clear();
  if (std::any_of(parts_.begin(), parts_.end(), [](const ops::OutputPart& part) { return part.ids.empty(); })) return;
  for (const ops::OutputPart& part : parts_) columns_.insert(columns_.end(), part.ids.begin(), part.ids.end());
  std::sort(columns_.begin(), columns_.end());
  columns_.erase(std::unique(columns_.begin(), columns_.end()), columns_.end());
}

// The logits of every part, in the columns of its ids.
Tensor ShortlistStep::logits(Context& c, const StepOutput& whole) const {
  const auto n = columns_.empty() ? vocab_size() : std::ssize(columns_);
  Tensor all = c.empty({whole.hidden.size(0), n});
  c.kernels().fill(-std::numeric_limits<float>::infinity(), all.data<float>(), all.count());
  std::int64_t row = 0;
  for (const ops::OutputPart& part : parts_) {
    const Tensor products = ops::linear(c, whole.hidden.rows(row, row + part.rows), part.w, part.b);
    const Tensor logits = whole.softcap > 0 ? ops::softcap(c, products, whole.softcap) : products;
    const std::int64_t width = logits.size(1);
    auto at = columns_.begin();
    for (std::int64_t i = 0; i < width; ++i) {
      std::int64_t column = part.ids.empty() ? i : part.ids[i];
      if (!columns_.empty()) {
        at = std::lower_bound(at, columns_.end(), part.ids[i]);
        column = at - columns_.begin();
      }
      for (std::int64_t r = 0; r < part.rows; ++r)
        all.data<float>()[(row + r) * n + column] = std::as_const(logits).data<float>()[r * width + i];
    }
    row += part.rows;
  }
  return all;
}

}  // namespace tril::search
