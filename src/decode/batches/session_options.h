// What a session is made of besides its model: how it keeps what it has read, which models decide with it, and who
// proposes tokens.
#pragma once

#include <cstdint>

#include "decode/steps/cache_options.h"
#include "decode/steps/ensemble.h"
#include "model/spec/model.h"

namespace tril::search {

/// Who proposes the next tokens of a greedy search (speculative.h).
struct SpeculativeOptions {
  const model::Model* draft = nullptr;  ///< a small model; null: none
  std::int32_t lookup = 0;              ///< n-grams of up to so many tokens are looked up in the text; 0: none
  std::int32_t tokens = 4;              ///< that are proposed at a time, at most
  float min_prob = 0;                   ///< a draft proposes nothing after a token that it finds less probable
  bool on() const { return draft != nullptr || lookup > 0; }
};

/// What came of it.
struct Speculation {
  std::int64_t rows = 0;  ///< rows of all steps: tokens of plain greedy search would have needed one each
  std::int64_t tokens = 0, proposed = 0, accepted = 0;
};

struct SessionOptions {
  CacheOptions cache;
  EnsembleOptions ensemble;
  SpeculativeOptions speculative;
};

/// Throws Error(usage) where they contradict themselves or do not fit the model.
void check_options(const SessionOptions& options, const model::Model& model);

}  // namespace tril::search
