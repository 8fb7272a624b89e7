#include "decode/steps/attention_tap_step.h"

#include <utility>

namespace tril::search {

AttentionTapStep::AttentionTapStep(std::unique_ptr<Step> inner, const model::Model& model, const Sources& sources,
                                   nn::AttentionHeads heads)
    : StepDecorator(std::move(inner)), model_(&model), sources_(&sources), heads_(std::move(heads)) {}

StepOutput AttentionTapStep::step(Context& c, const StepInput& input) {
  if (!input.attention) return StepDecorator::step(c, input);
  if (!tap_) tap_ = model::tap_of(*model_, heads_);
  if (std::exchange(version_, sources_->version()) != sources_->version()) tap_->keys = {};
  StepInput tapped = input;
  tapped.tap = &*tap_;
  StepOutput output = StepDecorator::step(c, tapped);
  output.attention = take(input);
  return output;
}

// The tap has the weights of all tokens; only each row's last token is kept.
StepAttention AttentionTapStep::take(const StepInput& input) {
  const std::vector<float> all = host_copy<float>(tap_->weights);
  tap_->weights = {};
  StepAttention attention;
  auto at = all.begin();
  for (std::size_t r = 0; r < input.counts.size(); ++r) {
    const std::int32_t source = sources_->length(input.sentences[r]);
    at += static_cast<std::ptrdiff_t>(input.counts[r]) * source;
    if (input.counts[r] > 0)
      attention.weights.insert(attention.weights.end(), at - source, at);
    else  // a row without tokens has no answer
      attention.weights.insert(attention.weights.end(), source, 0.0f);
    attention.lengths.push_back(source);
  }
  return attention;
}

}  // namespace tril::search
