// Options of a session: the KV cache, the other models of an ensemble, and speculative decoding.
#pragma once

#include <cstdint>

#include "decode/steps/cache_options.h"
#include "decode/steps/ensemble.h"
#include "model/spec/model.h"
#include "nn/medusa_heads.h"

namespace tril::search {

/// Speculative decoding (speculative.h): where proposed tokens come from. At most one of `draft`, `heads` and `lookup` is set.
struct SpeculativeOptions {
  const model::Model* draft = nullptr;     ///< a small model; null: none
  const nn::MedusaHeads* heads = nullptr;  ///< of this model, at least `tokens`; null: none
  std::int32_t lookup = 0;                 ///< the longest n-gram of prompt lookup; 0: no lookup
  std::int32_t tokens = 4;                 ///< the maximum number of tokens proposed at a time
  bool measured = false;                   ///< fewer or none where that is faster, by measurement (proposal_length.h)
  float min_prob = 0;                      ///< the draft stops after a token that it finds less probable than this
  bool on() const { return draft != nullptr || heads != nullptr || lookup > 0; }
  /// The name of the field that asks for proposals, for errors.
  const char* field() const { return draft ? "draft_model" : heads ? "draft_heads" : "prompt_lookup"; }
};

/// Counts of speculative decoding.
struct Speculation {
  std::int64_t rows = 0;  ///< rows of all steps; plain greedy search needs one row for each token
  std::int64_t tokens = 0, proposed = 0, accepted = 0;
};

struct SessionOptions {
  CacheOptions cache;
  EnsembleOptions ensemble;
  SpeculativeOptions speculative;
  /// The size of the prefix cache in tokens, which is kept from call to call of decode(); 0: none
  /// (DecodingStateOptions::prefix_tokens). For a single model without proposed tokens.
  std::int64_t prefix_tokens = 0;
};

/// Throws Error(usage) if the options contradict each other or do not fit the model.
void check_options(const SessionOptions& options, const model::Model& model);

}  // namespace tril::search
