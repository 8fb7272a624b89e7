// The one place where a model's step is put together. A search calls the outermost step, and each passes on what it changed:
//
//   shortlist > read again (longrope) > resumed text > prefix cache > chunks (or, without a cache, all again) > attention > model
//
// Those that a model or a search does not need are left out.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "decode/steps/cache_options.h"
#include "decode/steps/prefix_cache.h"
#include "decode/steps/sentence_adapters.h"
#include "decode/steps/sources.h"
#include "search/step.h"

namespace tril::search {

/// What a step is made of. All that it points to must outlive it.
struct StepParts {
  const model::Model* model = nullptr;
  const Sources* sources = nullptr;  ///< of an encoder-decoder: of all sentences that a step names
  nn::KvCache* cache = nullptr;  ///< without rows, but for a resumed text; null: every step computes all tokens again
  CacheOptions options = {};
  PrefixCache* prefixes = nullptr;             ///< of the cache; null: rows share no beginnings
  const SentenceAdapters* adapters = nullptr;  ///< of all sentences that a step names; null: they name none
  std::int32_t resumed = 0;                    ///< tokens of the text that the cache's one row holds; 0: none
  /// By sentence: the tokens that may come, ascending; none: all of the vocabulary.
  std::vector<std::vector<std::int32_t>> shortlist = {};
  nn::AttentionHeads attention = {};  ///< whose cross-attention a step returns if it asks for it
};
std::unique_ptr<Step> make_step(StepParts parts);

}  // namespace tril::search
