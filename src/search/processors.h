// Logits processors: what a search may not say, and what it must. Each looks at the rows of a step and changes their
// logits where they lie (step_logits.h); they run in the order in which make_processors() lists them, which is that of
// `transformers`:
//   logit bias, repetition penalty, presence and frequency penalty, repeated n-grams, n-grams of the source, bad words,
//   minimum length, forced BOS, forced EOS, suppressed tokens, tokens suppressed at the beginning, the beginning of a word after a given
//   prefix, a constraint on the whole text
// (its sequence_bias of single tokens is the logit bias; it has no presence and frequency penalties: those are
// OpenAI's, and count what was generated alone, where the repetition penalty counts what was given too). What narrows
// the choice of a sample comes after them (warpers.h).
// They act on logits. Log-probabilities are of what biases and penalties leave, so that they never are above 0; what is
// forbidden takes nothing from and gives nothing to the rest, and a forced token has log-probability 0. In a beam search
// all but the logit bias act on log-probabilities without renormalising, as in `transformers`.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "search/plan.h"
#include "search/step_logits.h"

namespace tril::search {

/// All that is done to a row's logits where it can be said in few words.
struct RowRule {
  std::vector<std::int32_t> forbidden;
  std::int32_t forced = -1;  ///< all others are forbidden too

  void force(std::int32_t id) {
    forced = id;
    forbidden.clear();
  }
};

class LogitsProcessor {
 public:
  virtual ~LogitsProcessor() = default;
  virtual void apply(std::span<const RowView> rows, StepLogits& logits) const = 0;
  /// Whether it moves probability between tokens instead of forbidding some. In a list of make_processors() those that do
  /// are the first.
  virtual bool changes_values() const { return false; }
  /// Of those, whether it does so in a beam search too, which takes the log-probabilities of what it leaves.
  virtual bool changes_logits() const { return false; }
  /// Whether rule() says all that apply() does.
  virtual bool has_rule() const { return false; }
  /// Adds to what is known of the row's tokens.
  virtual void rule(const RowView&, RowRule&) const {}
};

using Processors = std::vector<std::unique_ptr<LogitsProcessor>>;

/// Those that the options call for.
Processors make_processors(const SearchPlan& options);

}  // namespace tril::search
