// Logits processors forbid tokens, force tokens or change their logits. Each reads the rows of a step and changes their
// logits in place (step_logits.h). They run in the order of make_processors(), which is that of `transformers`:
//   logit bias, repetition penalty, presence and frequency penalty, repeated n-grams, n-grams of the source, bad words,
//   minimum length, forced BOS, forced EOS, suppressed tokens, tokens suppressed at the beginning, the beginning of a word
//   after a prefix, a constraint on the whole text
// The logit bias is `sequence_bias` of `transformers` for single tokens. The presence and frequency penalties are OpenAI's:
// they count generated tokens only, while the repetition penalty also counts the prompt. Warpers run afterwards (warpers.h).
//
// Processors act on logits. Log-probabilities are computed after biases and penalties, so they are never above 0. Forbidding
// a token does not change the log-probabilities of the others; a forced token has log-probability 0. In beam search, all but
// the logit bias act on log-probabilities without renormalisation, as in `transformers`.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "search/plan.h"
#include "search/step_logits.h"

namespace tril::search {

/// The tokens that processors forbid or force in one row.
struct RowRule {
  std::vector<std::int32_t> forbidden;
  std::int32_t forced = -1;  ///< the only allowed token; -1: none is forced

  void force(std::int32_t id) {
    forced = id;
    forbidden.clear();
  }
  /// @param not_allowed  the forbidden tokens, which may be kept elsewhere
  bool allows(std::int32_t id, std::span<const std::int32_t> not_allowed) const {
    return (forced < 0 || id == forced) && std::find(not_allowed.begin(), not_allowed.end(), id) == not_allowed.end();
  }
};

class LogitsProcessor {
 public:
  virtual ~LogitsProcessor() = default;
  virtual void apply(std::span<const RowView> rows, StepLogits& logits) const = 0;
  /// True if it changes the logits of allowed tokens. make_processors() lists these processors first.
  virtual bool changes_values() const { return false; }
  /// True if it does so before log-probabilities are computed in beam search as well.
  virtual bool changes_logits() const { return false; }
  /// True if rule() describes all that apply() does.
  virtual bool has_rule() const { return false; }
  /// Adds the tokens that it forbids or forces in this row.
  virtual void rule(const RowView&, RowRule&) const {}
};

using Processors = std::vector<std::unique_ptr<LogitsProcessor>>;

/// The processors that the options need.
Processors make_processors(const SearchPlan& options);

}  // namespace tril::search
