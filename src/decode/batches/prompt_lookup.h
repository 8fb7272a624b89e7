// Prompt lookup [Saxena 2023]: proposes the tokens that followed an earlier occurrence of the last tokens. A request's prediction
// (Request::prediction) is searched likewise: "predicted outputs" of some servers.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "decode/batches/proposer.h"

namespace tril::search {

/// Looks first in the request's prediction, for what agrees with most of the last generated tokens: with two at least, or with the first
/// one. Then looks for the last `ngram` tokens, then for fewer, down to 1, in
/// the row's text and then in its source. Proposes the tokens after the last earlier occurrence.
class Lookup : public Proposer {
 public:
  /// @param ngram          0: only predictions
  /// @param reads_sources  whether sources have the ids of the target vocabulary
  explicit Lookup(std::int32_t ngram, bool reads_sources = true) : ngram_(ngram), reads_sources_(reads_sources) {}
  void add(std::span<const std::int32_t> sentences, std::span<const std::vector<std::int32_t>> sources) override;
  void remove(std::int32_t sentence) override { sources_.erase(sentence); }
  void clear() override { sources_.clear(); }
  bool may_propose(const Request& request) const override { return ngram_ > 0 || !request.prediction.empty(); }
  void propose(Context& c, const Drafts& drafts, std::vector<std::vector<std::int32_t>>& proposals) override;

 private:
  std::int32_t ngram_;
  bool reads_sources_;
  std::map<std::int32_t, std::vector<std::int32_t>> sources_;  ///< by sentence
};

}  // namespace tril::search
