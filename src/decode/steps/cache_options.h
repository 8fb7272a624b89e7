// How a model at work keeps what it has read.
#pragma once

#include "nn/kv_cache.h"

namespace tril::search {

struct CacheOptions {
  bool use = true;  ///< false: compute everything again at every step (for checks, and for families without a cache)
  /// What a token sees of those before it: the last kept.window and the first kept.sinks; 0: all. It holds without a
  /// cache too; the precision does not.
  nn::KvCache::Options kept;
  std::int32_t prompt_chunk = 1024;  ///< tokens of prompts that are read at once: memory beside the cache grows with it
};

/// Throws Error(usage) where they contradict themselves.
void check_options(const CacheOptions& options);

}  // namespace tril::search
