// Builds a model's step from its decorators. The search calls the outermost; each changes its input or output and calls the next:
//
//   shortlist > reread (longrope) > resumed text > prefix cache > chunks (without a cache: recompute) > attention > model
//
// Decorators that a model or a search does not need are left out.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "decode/steps/cache_options.h"
#include "decode/steps/prefix_cache.h"
#include "decode/steps/sentence_adapters.h"
#include "decode/steps/sentence_shortlists.h"
#include "decode/steps/sources.h"
#include "search/step.h"

namespace tril::search {

/// The parts of a step. Everything that they point to must outlive it.
struct StepParts {
  const model::Model* model = nullptr;
  const Sources* sources = nullptr;  ///< the sources of all sentences; null for a model without an encoder
  nn::KvCache* cache = nullptr;      ///< has no rows, except for a resumed text; null: every step recomputes all tokens
  CacheOptions options = {};
  PrefixCache* prefixes = nullptr;                 ///< over `cache`; null: no prefix cache
  const SentenceAdapters* adapters = nullptr;      ///< the adapters of all sentences; null: they use none
  const SentenceShortlists* shortlists = nullptr;  ///< those of all sentences; null: they have the whole vocabulary
  std::int32_t resumed = 0;  ///< tokens in the cache's only row, which the first prompt continues; 0: no such row
  nn::AttentionHeads attention = {};  ///< the heads of StepOutput::attention
};
std::unique_ptr<Step> make_step(StepParts parts);

}  // namespace tril::search
