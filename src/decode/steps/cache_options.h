// Options of the KV cache, and of how prompts are read into it.
#pragma once

#include "nn/kv_cache.h"

namespace tril::search {

struct CacheOptions {
  bool use = true;  ///< false: recompute all tokens at every step (for checks, and for families without a cache)
  /// Attention is limited to the last kept.window and the first kept.sinks tokens; window 0: no limit. The limit also holds
  /// without a cache; the precision does not.
  nn::KvCache::Options kept;
  std::int32_t prompt_chunk = 1024;  ///< prompt tokens per prefill chunk; working memory is proportional to it
};

/// Throws Error(usage) if the options contradict each other.
void check_options(const CacheOptions& options);

}  // namespace tril::search
