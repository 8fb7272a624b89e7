// Sees what the search of one sentence considers, while it decides (Request::observer). The calls of a step come in this order: what
// becomes of each candidate, then the likeliest tokens of each row, then that the rows are those of the next step. A search that nobody
// observes spends nothing on it, and one that is observed has the same results. search_tree.h keeps all of it as a tree.
#pragma once

#include <cstdint>
#include <span>

#include "search/plan.h"

namespace tril::search {

/// What becomes of a token that may follow a row.
enum class Fate : std::uint8_t {
  living,     ///< it has a place in the beam, or continues a sample
  cut,        ///< it was a candidate, and others were preferred
  finished,   ///< it ends a hypothesis
  stopped,    ///< it had a place in the beam when the search ended
  forbidden,  ///< a processor forbids it (processors.h)
  rejected,   ///< it was proposed (speculative.h), and the model chose another
};

class SearchObserver {
 public:
  virtual ~SearchObserver() = default;

  /// A candidate and its fate: living, cut, finished or stopped.
  struct Choice {
    std::int32_t row = 0;  ///< that it extends
    std::int32_t token = 0;
    std::int32_t group = 0;  ///< of a diverse beam search, or alternative
    Fate fate = Fate::cut;
    double log_prob = 0;  ///< of the token
    double sum = 0;       ///< of the hypothesis with it
    double rank_sum = 0;  ///< the sum by which a beam ranks it: `sum` less its diversity penalties
    double score = 0;     ///< of a finished hypothesis
    StopReason stop_reason = StopReason::length;  ///< of a finished hypothesis
  };

  /// A search begins with one row, which has no generated token.
  virtual void begin(const Request& request) = 0;
  virtual void choose(const Choice& choice) = 0;
  /// The likeliest tokens of a row, forbidden or not (SearchPlan::observed_tokens). Those without an id are none.
  virtual void see(std::int32_t row, std::span<const LikelyToken> tokens) = 0;
  /// The living choices of this step, in their order, are the rows of the next one.
  virtual void advance() = 0;
  /// The search ends with this row, whose hypothesis gets no further token.
  virtual void end(std::int32_t row, double score, StopReason why) = 0;
  /// These tokens were proposed after the only row of a greedy search. Its next choices accept them one by one, up to the first that
  /// differs.
  virtual void propose(std::span<const std::int32_t> tokens) = 0;
};

}  // namespace tril::search
