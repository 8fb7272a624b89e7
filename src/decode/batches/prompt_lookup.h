// Prompt lookup [Saxena 2023]: what followed the last tokens where they came before may follow them again.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "decode/batches/proposer.h"

namespace tril::search {

/// What followed the longest of the last 1 to `ngram` tokens where they last came before, in the row's own text or
/// else in its source.
class Lookup : public Proposer {
 public:
  /// @param sources  by sentence, in the target's vocabulary; may be empty
  Lookup(std::span<const std::vector<std::int32_t>> sources, std::int32_t ngram) : sources_(sources), ngram_(ngram) {}
  void propose(Context& c, const Drafts& rows, std::vector<std::vector<std::int32_t>>& proposals) override;

 private:
  std::span<const std::vector<std::int32_t>> sources_;
  std::int32_t ngram_;
};

}  // namespace tril::search
