// Prompt lookup [Saxena 2023]: proposes the tokens that followed an earlier occurrence of the last tokens.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "decode/batches/proposer.h"

namespace tril::search {

/// Looks for the last `ngram` tokens, then for fewer, down to 1, in the row's text and then in its source. Proposes the tokens
/// after the last earlier occurrence.
class Lookup : public Proposer {
 public:
  /// @param sources  by sentence, as ids of the target vocabulary; may be empty
  Lookup(std::span<const std::vector<std::int32_t>> sources, std::int32_t ngram) : sources_(sources), ngram_(ngram) {}
  void propose(Context& c, const Drafts& rows, std::vector<std::vector<std::int32_t>>& proposals) override;

 private:
  std::span<const std::vector<std::int32_t>> sources_;
  std::int32_t ngram_;
};

}  // namespace tril::search
