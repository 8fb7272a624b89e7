// A "model" whose next-token distribution is a random function of the sentence and all tokens so far, and a Step over
// it; and reference searches written for obviousness, which define the results of the fast ones.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "decode/batches/decode.h"

namespace tril::search::testing {

using Ids = std::vector<std::int32_t>;

class TreeModel {
 public:
  /// @param sharpness  of the distributions: 0 is uniform
  /// @param eos_bias   added to the logit of eos, so that hypotheses end
  TreeModel(std::uint64_t seed, std::int32_t vocab_size, std::int32_t eos, double sharpness, double eos_bias)
      : seed_(seed), vocab_size_(vocab_size), eos_(eos), sharpness_(sharpness), eos_bias_(eos_bias) {}

  std::int32_t vocab_size() const { return vocab_size_; }
  /// `history` begins with the start token.
  std::vector<float> logits(std::int32_t sentence, const Ids& history) const;
  /// Likewise after log_softmax, in double.
  std::vector<double> log_probs(std::int32_t sentence, const Ids& history) const;

 private:
  std::uint64_t seed_;
  std::int32_t vocab_size_, eos_;
  double sharpness_, eos_bias_;
};

/// Returns the model's logits, following parents; counts its calls.
class TreeStep : public Step {
 public:
  explicit TreeStep(const TreeModel& model) : model_(&model) {}
  std::int64_t vocab_size() const override { return model_->vocab_size(); }
  StepOutput step(Context& c, const StepInput& input) override;

  std::int64_t calls = 0, most_sentences = 0, rows = 0;

 private:
  const TreeModel* model_;
  std::vector<Ids> histories_;
  std::vector<std::int32_t> sentences_;
};

/// Beam search as in `transformers`, in plain loops over whole sequences: lists of running and finished hypotheses,
/// with -1e9 for missing ones, and every candidate of every beam in one list.
/// @param first  initial tokens of hypotheses, as if the search had chosen them
std::vector<Hypothesis> reference_beam_search(const TreeModel& model, std::int32_t sentence, const Request& request,
                                              const SearchPlan& options, const Ids& first = {});

/// Diverse beam search: groups of beams, each penalised for the tokens of those before it. Returns each group's
/// hypotheses, best first by penalised score, with unpenalised scores.
std::vector<std::vector<Hypothesis>> reference_diverse(const TreeModel& model, std::int32_t sentence,
                                                       const Request& request, const SearchPlan& options);

/// The most probable token at every step.
Hypothesis reference_greedy(const TreeModel& model, std::int32_t sentence, const Request& request,
                            const SearchPlan& options);

/// Every hypothesis of at most max_length tokens, best first.
std::vector<Hypothesis> exhaustive(const TreeModel& model, std::int32_t sentence, const Request& request,
                                   const SearchPlan& options);

/// Log-probabilities of the next token, penalised, with forbidden tokens at -inf and forced ones at 0.
std::vector<double> constrained(const TreeModel& model, std::int32_t sentence, const Ids& history,
                                const Request& request, const SearchPlan& options);

}  // namespace tril::search::testing
