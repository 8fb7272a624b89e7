// A model at work on closed lists of sentences: its sources, its cache, those that decide with it and who proposes. One
// session belongs to one context, so to one thread; sessions share their model.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "decode/batches/decode.h"
#include "decode/batches/proposer.h"
#include "decode/batches/session_options.h"
#include "decode/steps/decoding_state.h"

namespace tril::search {

class Session {
 public:
  Session(Context& c, const model::Model& model, const SessionOptions& options = {});

  /// The hypotheses for each request, best first.
  /// @param sources  an encoder-decoder: what each request translates, ids with EOS; a model without an encoder: none
  std::vector<std::vector<Hypothesis>> decode(std::span<const std::vector<std::int32_t>> sources,
                                              std::span<const Request> requests, const SearchPlan& options,
                                              std::int64_t max_live = 0, const Watch& watch = {});

  /// Null where nothing is kept. Between two decode() calls it holds no rows.
  const nn::KvCache* cache() const { return models_[0].cache(); }
  /// Of all decode() calls so far, where tokens are proposed.
  const Speculation& speculation() const { return speculation_; }

 private:
  struct Cleared;
  std::unique_ptr<Proposer> new_proposer(std::span<const std::vector<std::int32_t>> sources);

  Context* context_;
  SessionOptions options_;
  std::vector<DecodingState> models_;  ///< the session's own model, then the ensemble's others
  std::optional<DecodingState> draft_;
  Speculation speculation_;
};

}  // namespace tril::search
