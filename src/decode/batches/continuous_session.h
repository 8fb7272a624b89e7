// Decodes sentences that arrive at any time with one model: a continuous batch (continuous_batch.h) and the state of its
// sentences (decoding_state.h). A session belongs to one context, so to one thread; sessions can share a model.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_set>
#include <vector>

#include "decode/batches/continuous_batch.h"
#include "decode/batches/proposal_source.h"
#include "decode/steps/decoding_state.h"

namespace tril::search {

struct ContinuousSessionOptions {
  CacheOptions cache;
  /// The maximum number of prompt tokens per step, which bounds the delay that prefill adds to the other sentences.
  std::int32_t prompt_tokens = 512;
  /// The size of the prefix cache in tokens (prefix_cache.h); 0: none. Only for models without an encoder whose tokens attend
  /// to all earlier ones.
  std::int64_t prefix_tokens = 0;
  /// The heads whose attention weights are returned if SearchPlan::attention is set.
  nn::AttentionHeads attention;
  /// Proposes tokens for sentences whose search can use them (SearchPlan::takes_proposals()); others are decoded without.
  SpeculativeOptions speculative;
};

class ContinuousSession {
 public:
  ContinuousSession(Context& c, const model::Model& model, const ContinuousSessionOptions& options,
                    OnToken on_token = {}, OnPartial on_partial = {});

  struct Arrival {
    std::int32_t sentence = 0;              ///< a number not in use; memory grows with the largest, so reuse small ones
    std::vector<std::int32_t> source = {};  ///< for an encoder-decoder: ids with EOS
    Request request = {};
    std::shared_ptr<const SearchPlan> options = {};
  };
  /// Adds sentences, which take part from the next step on. Their sources are encoded together. An invalid sentence ends with an
  /// error (ContinuousBatch::Ended::error), and the others are not affected.
  void join(std::span<const Arrival> arrivals);
  void cut(std::int32_t sentence, StopReason why) { batch_->cut(sentence, why); }
  /// Runs one decode step for all sentences. If the model fails, all current sentences end with its error, and the session
  /// remains usable.
  void step();
  /// See ContinuousBatch.
  std::vector<ContinuousBatch::Ended> take_ended();

  bool empty() const { return batch_->empty(); }
  std::size_t sentences() const { return batch_->sentences(); }
  const ContinuousBatch::StepSize& last() const { return batch_->last(); }
  /// Cached tokens of the current sentences, without those of the prefix cache alone.
  std::int64_t used_slots() const { return state_.used_slots(); }
  /// Tokens in the prefix cache.
  std::int64_t prefix_tokens() const { return state_.prefix_tokens(); }
  std::int64_t cache_bytes() const { return state_.cache_bytes() + proposals_.cache_bytes(); }
  /// Counts over all steps, if tokens are proposed.
  const Speculation& speculation() const { return proposals_.counts(); }

 private:
  void start();
  void fail_all(const std::exception_ptr& error);

  Context* context_;
  ContinuousSessionOptions options_;
  OnToken on_token_;
  OnPartial on_partial_;
  DecodingState state_;
  ProposalSource proposals_;
  std::unique_ptr<Step> step_;
  std::optional<Speculator> speculator_;
  std::unique_ptr<ContinuousBatch> batch_;
  std::vector<ContinuousBatch::Ended> failed_;
  std::unordered_set<std::int32_t> current_;  ///< sentences that have joined and not been taken
};

}  // namespace tril::search
