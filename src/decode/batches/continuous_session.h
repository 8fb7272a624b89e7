// A model at work for sentences that come and go: a running batch (continuous_batch.h) with the model's step, its cache and
// what its sentences translate. One belongs to one context, so to one thread; they share their model.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_set>
#include <vector>

#include "decode/batches/continuous_batch.h"
#include "decode/steps/decoding_state.h"

namespace tril::search {

struct ContinuousSessionOptions {
  CacheOptions cache;
  /// Tokens of prompts that a step reads at most, so that those who go on wait for no more than these.
  std::int32_t prompt_tokens = 512;
  /// Tokens of prompts and texts whose keys and values stay when their sentences have ended, for others that begin alike
  /// (prefix_cache.h); 0: none do. Of models without an encoder, where every token sees all before it.
  std::int64_t prefix_tokens = 0;
  /// Whose attention sentences with SearchPlan::attention get.
  nn::AttentionHeads attention;
};

class ContinuousSession {
 public:
  ContinuousSession(Context& c, const model::Model& model, const ContinuousSessionOptions& options,
                    OnToken on_token = {}, OnPartial on_partial = {});

  struct Arrival {
    std::int32_t sentence = 0;              ///< a number that nobody here has; small ones, used again, are best
    std::vector<std::int32_t> source = {};  ///< of an encoder-decoder: ids with EOS
    Request request = {};
    std::shared_ptr<const SearchPlan> options = {};
  };
  /// They take part from the next step on; their sources are encoded together. What is wrong with one of them is its end.
  void join(std::span<const Arrival> arrivals);
  void cut(std::int32_t sentence, StopReason why) { batch_->cut(sentence, why); }
  /// One token more for all. An error of the model's step ends all who are there with it, and the session goes on.
  void step();
  /// See ContinuousBatch.
  std::vector<ContinuousBatch::Ended> take_ended();

  bool empty() const { return batch_->empty(); }
  std::size_t sentences() const { return batch_->sentences(); }
  const ContinuousBatch::StepSize& last() const { return batch_->last(); }
  /// Tokens whose keys and values are kept for those who are there; 0 where nobody is. Beginnings are not among them.
  std::int64_t used_slots() const { return state_.used_slots(); }
  /// Those of beginnings that stay for others.
  std::int64_t prefix_tokens() const { return state_.prefix_tokens(); }
  std::int64_t cache_bytes() const { return state_.cache_bytes(); }

 private:
  void start();
  void fail_all(const std::exception_ptr& error);

  Context* context_;
  ContinuousSessionOptions options_;
  OnToken on_token_;
  OnPartial on_partial_;
  DecodingState state_;
  std::unique_ptr<Step> step_;
  std::unique_ptr<ContinuousBatch> batch_;
  std::vector<ContinuousBatch::Ended> failed_;
  std::unordered_set<std::int32_t> there_;  ///< sentences
};

}  // namespace tril::search
