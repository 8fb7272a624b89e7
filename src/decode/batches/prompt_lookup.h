// Prompt lookup [Saxena 2023]: proposes the tokens that followed an earlier occurrence of the last tokens.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "decode/batches/proposer.h"

namespace tril::search {

/// Looks for the last `ngram` tokens, then for fewer, down to 1, in the row's text and then in its source. Proposes the tokens
/// after the last earlier occurrence.
class Lookup : public Proposer {
 public:
  /// @param reads_sources  whether sources have the ids of the target vocabulary
  explicit Lookup(std::int32_t ngram, bool reads_sources = true) : ngram_(ngram), reads_sources_(reads_sources) {}
  void add(std::span<const std::int32_t> sentences, std::span<const std::vector<std::int32_t>> sources) override;
  void remove(std::int32_t sentence) override { sources_.erase(sentence); }
  void clear() override { sources_.clear(); }
  void propose(Context& c, const Drafts& drafts, std::vector<std::vector<std::int32_t>>& proposals) override;

 private:
  std::int32_t ngram_;
  bool reads_sources_;
  std::map<std::int32_t, std::vector<std::int32_t>> sources_;  ///< by sentence
};

}  // namespace tril::search
