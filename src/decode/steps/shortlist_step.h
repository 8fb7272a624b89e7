// Computes only the logits of tokens in the sentences' shortlists (shortlist.h). Each sentence has an output matrix of its own: the
// rows of the model's that are in its list. So its result depends on no other sentence.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "decode/steps/sentence_shortlists.h"
#include "decode/steps/step_decorator.h"

namespace tril::search {

class ShortlistStep : public StepDecorator {
 public:
  /// @param inner  supports Wanted::hidden
  /// @param lists  of the sentences; must outlive the step
  ShortlistStep(std::unique_ptr<Step> inner, const SentenceShortlists& lists)
      : StepDecorator(std::move(inner)), lists_(&lists) {}
  /// If candidates are wanted, returns hidden states and StepOutput::parts. Otherwise, or with a softcap, returns logits [answers,
  /// columns]: StepOutput::columns is the union of the sentences' lists, and other ids of a row are -inf.
  StepOutput step(Context& c, const StepInput& input) override;

 private:
  /// The rows of the output matrix that are in a list.
  struct Projection {
    IdList ids;  ///< null: all
    ops::Weight weight;
    Tensor bias;
  };
  bool has_lists(const StepInput& input) const;
  void choose_parts(Context& c, const StepInput& input, const StepOutput& whole);
  const Projection& projection(Context& c, std::int32_t sentence, const StepOutput& whole);
  void choose_columns();
  Tensor logits(Context& c, const StepOutput& whole) const;

  const SentenceShortlists* lists_;
  std::map<std::int32_t, Projection> projections_;  ///< of the sentences of the last step
  std::vector<ops::OutputPart> parts_;              ///< of the last step
  std::vector<std::int32_t> columns_;               ///< empty: all
};

}  // namespace tril::search
