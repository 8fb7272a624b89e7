// What a trace of the public interface holds.
#pragma once

#include <tril/trace.h>

#include <optional>
#include <vector>

#include "trace/analyses.h"
#include "trace/report.h"

namespace tril::v0 {

struct TraceState {
  /// @param answer  its values are not copied
  TraceState(const trace::TextReader& reader, trace::Answer answer, trace::Findings findings);
  TraceState(const TraceState&) = delete;  // the values point into the answer
  TraceState& operator=(const TraceState&) = delete;
  ~TraceState() = default;

  trace::Answer answer;
  std::vector<TracedToken> source, tokens;
  std::vector<NextToken> next;
  std::vector<TracedValue> values;  ///< of answer.trace, in its order
  TracedValue logits;
  std::optional<TraceChange> change;
  std::vector<LensRow> lens;
  std::vector<float> encoder_rollout, decoder_rollout;
  std::optional<Attribution> attribution;
  std::vector<HeadScore> head_scores;
};

}  // namespace tril::v0
