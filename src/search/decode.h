// Drives the searches of many sentences over one step function. A step's batch holds the live rows of all live
// sentences; a sentence that is done leaves at once, and the next one that waits takes its place.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "search/options.h"
#include "tensor/context.h"

namespace tril::search {

/// The rows of one step, a sentence's rows beside each other.
struct StepInput {
  std::span<const std::int32_t> ids;  ///< [rows] the last token of each row
  /// [rows] which row of the step before this one goes on from; -1: a sentence that begins. Those come last.
  std::span<const std::int32_t> parents;
  std::span<const std::int32_t> sentences;  ///< [rows] whose row it is: an index into decode()'s requests
};

/// What a search drives: a model with its memory of what came before, or a table in a test.
class Step {
 public:
  virtual ~Step() = default;
  virtual std::int64_t vocab_size() const = 0;
  /// Logits [rows, V] of what follows each row, the caller's to change.
  virtual Tensor logits(Context& c, const StepInput& input) = 0;
};

/// The hypotheses of each request, best first. At most `max_live` sentences are in a batch together (0: all of them);
/// the results do not depend on it.
std::vector<std::vector<Hypothesis>> decode(Context& c, Step& step, std::span<const Request> requests,
                                            const SearchOptions& options, std::int64_t max_live = 0);

}  // namespace tril::search
