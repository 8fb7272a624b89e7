// Decodes a list of sentences over one step function. When a sentence ends, the next waiting one takes its place in the batch
// (continuous_batch.h).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <stop_token>
#include <vector>

#include "search/plan.h"
#include "search/step.h"

namespace tril::search {

/// A new token of a greedy search or a sample.
struct NewToken {
  std::size_t request;  ///< an index into RequestList::requests
  std::int32_t sample;
  std::int32_t token;  ///< -1: the sample ends without another token
  bool ended;
  const TokenScore* score = nullptr;  ///< null unless SearchPlan::top_log_probs is at least 0; valid during the call
};
using OnToken = std::function<void(const NewToken&)>;

/// The current state of a request's search.
struct Partial {
  std::size_t request;                   ///< an index into RequestList::requests
  std::span<const std::int32_t> tokens;  ///< generated tokens of the best running hypothesis; valid during the call
};
using OnPartial = std::function<void(const Partial&)>;

/// Callbacks of a running search, which may be empty, and a way to stop it.
struct Watch {
  OnToken on_token = {};      ///< called for every token; not in beam search, which may drop tokens again
  OnPartial on_partial = {};  ///< called after every step for each running request
  /// When stop is requested, from any thread, the search finishes the current step and cancels all remaining requests
  /// (StopReason::cancelled).
  std::stop_token stop = {};
};

/// Requests with one plan.
struct RequestList {
  std::span<const Request> requests;
  const SearchPlan& options;
  std::int64_t max_live = 0;  ///< the maximum number of sentences in the batch; 0: all. Does not change the results
  Watch watch = {};
};

class Speculator;

/// The hypotheses of each request, best first, or in the order of the samples.
/// @param speculator  proposes tokens (speculator.h); null: none does
/// @throws Error(usage) for invalid options, or if their search cannot use proposals
std::vector<std::vector<Hypothesis>> decode(Context& c, Step& step, const RequestList& list,
                                            Speculator* speculator = nullptr);

}  // namespace tril::search
