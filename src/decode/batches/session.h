// Decodes fixed lists of sentences with one model, an ensemble, or a model and its draft model. A session belongs to one
// context, so to one thread; sessions can share a model.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "decode/batches/decode.h"
#include "decode/batches/proposal_source.h"
#include "decode/batches/session_options.h"
#include "decode/steps/decoding_state.h"

namespace tril::search {

class Session {
 public:
  Session(Context& c, const model::Model& model, const SessionOptions& options = {});

  /// The hypotheses of each request, best first.
  /// @param sources   ids with EOS, one for each request; a model without an encoder: none
  /// @param max_live  see RequestList
  std::vector<std::vector<Hypothesis>> decode(std::span<const std::vector<std::int32_t>> sources,
                                              std::span<const Request> requests, const SearchPlan& options,
                                              std::int64_t max_live = 0, const Watch& watch = {});

  /// The KV cache of the session's own model; null: none. It has no rows between two calls of decode().
  const nn::KvCache* cache() const { return models_[0].cache(); }
  /// Counts over all calls of decode(), if tokens are proposed.
  const Speculation& speculation() const { return proposals_.counts(); }

 private:
  struct Cleared;

  Context* context_;
  SessionOptions options_;
  std::vector<DecodingState> models_;  ///< the session's own model, then the ensemble's others
  ProposalSource proposals_;
};

}  // namespace tril::search
