// Options of a session: the KV cache, the other models of an ensemble, and speculative decoding.
#pragma once

#include <cstdint>

#include "decode/batches/speculative.h"
#include "decode/steps/cache_options.h"
#include "decode/steps/ensemble.h"
#include "model/spec/model.h"

namespace tril::search {

struct SessionOptions {
  CacheOptions cache;
  EnsembleOptions ensemble;
  SpeculativeOptions speculative;
  /// The size of the prefix cache in tokens, which is kept from call to call of decode(); 0: none
  /// (DecodingStateOptions::prefix_tokens). For a single model without proposed tokens.
  std::int64_t prefix_tokens = 0;
};

}  // namespace tril::search
