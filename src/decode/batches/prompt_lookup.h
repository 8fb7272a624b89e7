// Prompt lookup [Saxena 2023]: proposes the tokens that followed an earlier occurrence of the last tokens. A request's prediction
// (Request::prediction) is searched in the same way; some servers call this predicted outputs.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "decode/batches/proposer.h"

namespace tril::search {

/// First searches the request's prediction for the longest match with the end of the generated tokens. At least two tokens must match;
/// after the first token, one suffices. Then looks for the last `ngram` tokens, then for fewer, down to 1, in the row's text and then in
/// its source. Proposes the tokens after the last earlier occurrence. Needs DraftRow::request.
class Lookup : public Proposer {
 public:
  /// @param ngram          0: only predictions
  /// @param reads_sources  whether sources have the ids of the target vocabulary
  explicit Lookup(std::int32_t ngram, bool reads_sources = true) : ngram_(ngram), reads_sources_(reads_sources) {}
  void add(std::span<const std::int32_t> sentences, std::span<const std::vector<std::int32_t>> sources) override;
  void remove(std::int32_t sentence) override { sources_.erase(sentence), places_.erase(sentence); }
  void clear() override { sources_.clear(), places_.clear(); }
  bool may_propose(const Request& request) const override { return ngram_ > 0 || request.prediction; }
  void propose(Context& c, const Drafts& drafts, std::vector<std::vector<std::int32_t>>& proposals) override;

 private:
  struct Place {
    std::ptrdiff_t at = 0;         // of the prediction's token that may follow
    std::ptrdiff_t generated = 0;  // tokens before it
  };
  std::span<const std::int32_t> predicted(const DraftRow& row);

  std::int32_t ngram_;
  bool reads_sources_;
  std::map<std::int32_t, std::vector<std::int32_t>> sources_;  ///< by sentence
  std::map<std::int32_t, Place> places_;                       ///< by sentence: where its prediction agreed last
};

}  // namespace tril::search
