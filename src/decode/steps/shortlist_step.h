// Computes only the logits of tokens in the sentences' shortlists (shortlist.h), as a product with these rows of the output matrix.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "decode/steps/step_decorator.h"

namespace tril::search {

class ShortlistStep : public StepDecorator {
 public:
  /// @param inner  supports Wanted::hidden
  /// @param lists  by sentence: its ids, ascending
  ShortlistStep(std::unique_ptr<Step> inner, std::vector<std::vector<std::int32_t>> lists)
      : StepDecorator(std::move(inner)), lists_(std::move(lists)) {}
  /// Returns logits [answers, columns]. StepOutput::columns is the union of the lists of the step's sentences.
  StepOutput step(Context& c, const StepInput& input) override;

 private:
  void choose_columns(Context& c, std::span<const std::int32_t> sentences, const StepOutput& projection);

  std::vector<std::vector<std::int32_t>> lists_;
  // Reused in the next step if it answers the same sentences.
  std::vector<std::int32_t> chosen_for_, columns_;
  ops::Weight weight_;  ///< rows columns_ of the output matrix
  Tensor bias_;
  Tensor masks_;  ///< [sentences chosen_for_, columns]: 0, or -inf if the token is not in the sentence's list
};

}  // namespace tril::search
