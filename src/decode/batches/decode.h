// Decodes a list of sentences over one step function: as one of those that go on together ends, the next one that waits
// takes its place (continuous_batch.h).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <stop_token>
#include <vector>

#include "search/plan.h"
#include "search/step.h"

namespace tril::search {

/// A token as it is chosen, of a greedy search or a sample.
struct NewToken {
  std::size_t request;  ///< an index into RequestList::requests
  std::int32_t sample;
  std::int32_t token;  ///< -1: none, the sample ends without another
  bool ended;
  const TokenScore* score = nullptr;  ///< where SearchPlan::top_log_probs asks for it; gone after the call
};
using OnToken = std::function<void(const NewToken&)>;

/// How far the search for a request has come.
struct Partial {
  std::size_t request;                   ///< an index into RequestList::requests
  std::span<const std::int32_t> tokens;  ///< of the best hypothesis that goes on, as generated; gone after the call
};
using OnPartial = std::function<void(const Partial&)>;

/// What is seen of a search while it goes on, and how it is ended; callbacks may be empty.
struct Watch {
  OnToken on_token = {};      ///< told of every token; not by a beam search, which may take tokens back
  OnPartial on_partial = {};  ///< told after every step, of each request that goes on
  /// Once it asks for it, from whatever thread, the search ends with the step that it is at, and all that goes on or waits
  /// is cut (StopReason::cancelled).
  std::stop_token stop = {};
};

/// What is to be decoded: requests of one plan.
struct RequestList {
  std::span<const Request> requests;
  const SearchPlan& options;
  std::int64_t max_live =
      0;  ///< sentences that are in a batch together, at most; 0: all. The results do not depend on it
  Watch watch = {};
};

/// The hypotheses of each request, best first, or in the samples' order.
std::vector<std::vector<Hypothesis>> decode(Context& c, Step& step, const RequestList& list);

}  // namespace tril::search
