// What one model keeps of its sentences while they are decoded: the KV cache, the prefix cache, the encoder's output and the
// adapters. Every session (decode/batches/) holds one for each of its models, and makes its steps over it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "decode/steps/cache_options.h"
#include "decode/steps/prefix_cache.h"
#include "decode/steps/sentence_adapters.h"
#include "decode/steps/sentence_shortlists.h"
#include "decode/steps/sources.h"
#include "search/step.h"

namespace tril::search {

struct DecodingStateOptions {
  CacheOptions cache;
  /// The size of the prefix cache in tokens; 0: none. Encoder-decoders, recurrent states and attention windows never have
  /// one.
  std::int64_t prefix_tokens = 0;
  /// Keeps tokens that have left the attention window. Rows can then be truncated by any number of tokens.
  bool beyond_window = false;
};

/// What a step does besides running the model; see StepParts.
struct StepOptions {
  nn::AttentionHeads attention = {};
  std::int32_t resumed = 0;
};

class DecodingState {
 public:
  /// The context and the model must outlive it.
  /// @throws Error(usage) if the options contradict each other
  DecodingState(Context& c, const model::Model& model, const DecodingStateOptions& options);

  /// Adds sentences under these numbers, none of which may be in use. The sources of one call are encoded together.
  /// @param sources     ids with EOS, one for each sentence; a model without an encoder: none
  /// @param adapters    one for each sentence (Request::adapter); empty: all use the model's own choice
  /// @param shortlists  one for each sentence, of which none is empty; null, or none at all: the whole vocabulary
  void add(std::span<const std::int32_t> sentences, std::span<const std::vector<std::int32_t>> sources,
           std::span<const std::int32_t> adapters = {}, std::span<const IdList> shortlists = {});
  /// Forgets a sentence's source and shortlist.
  void remove(std::int32_t sentence);
  /// Removes all rows of the KV cache. The prefix cache stays.
  void drop_rows();
  /// Forgets all sentences and their rows. The prefix cache stays.
  void drop_sentences();
  /// Forgets all sentences, rows and prefixes.
  void clear();

  /// A step over this state, which must outlive it and stay at its address. Only one step may be in use at a time.
  std::unique_ptr<Step> new_step(StepOptions options = {});

  const model::Model& model() const { return *model_; }
  /// Null if nothing is cached.
  nn::KvCache* cache() { return cache_.get(); }
  const nn::KvCache* cache() const { return cache_.get(); }
  /// Tokens in the KV cache that belong to sentences, not to the prefix cache alone.
  std::int64_t used_slots() const { return cache_ ? cache_->used_slots() - prefix_tokens() : 0; }
  /// Tokens in the prefix cache.
  std::int64_t prefix_tokens() const { return prefixes_ ? prefixes_->tokens() : 0; }
  std::int64_t cache_bytes() const { return cache_ ? cache_->bytes() : 0; }

 private:
  Context* context_;
  const model::Model* model_;
  CacheOptions options_;
  std::unique_ptr<nn::KvCache> cache_;
  std::unique_ptr<PrefixCache> prefixes_;  ///< of cache_, so destroyed before it
  Sources sources_;
  SentenceAdapters adapters_;
  SentenceShortlists shortlists_;
};

}  // namespace tril::search
