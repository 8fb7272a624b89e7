// Logits of the tokens alone that the sentences' shortlists (shortlist.h) have: a product with these rows of the output matrix.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "decode/steps/step_decorator.h"

namespace tril::search {

class ShortlistStep : public StepDecorator {
 public:
  /// @param inner  must answer Wanted::hidden
  /// @param lists  by sentence: ascending ids
  ShortlistStep(std::unique_ptr<Step> inner, std::vector<std::vector<std::int32_t>> lists)
      : StepDecorator(std::move(inner)), lists_(std::move(lists)) {}
  /// Logits [answers, columns]; StepOutput::columns are the ids that any of the step's sentences has.
  StepOutput step(Context& c, const StepInput& input) override;

 private:
  void choose_columns(Context& c, std::span<const std::int32_t> sentences, const StepOutput& projection);

  std::vector<std::vector<std::int32_t>> lists_;
  // These stay from step to step, as long as the same sentences are answered.
  std::vector<std::int32_t> chosen_for_, columns_;
  ops::Weight weight_;  ///< the output's rows of columns_
  Tensor bias_;
  Tensor masks_;  ///< [sentences chosen_for_, columns]: 0, or -inf where the sentence's list lacks the token
};

}  // namespace tril::search
