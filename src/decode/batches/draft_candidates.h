// The likeliest next tokens by the rules of each row's search, for proposers: a token that the search forbids is not proposed, since it
// could not be accepted. Where the search samples, the token is drawn by the same random number as the model's own, so that similar
// distributions mostly agree.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "search/candidates.h"

namespace tril::search {

class DraftCandidates {
 public:
  /// @param scores  true: Candidate::log_prob is a log-probability; false: it is a logit
  DraftCandidates(std::int64_t vocab_size, bool scores) : vocab_size_(vocab_size), scores_(scores) {}

  struct Row {
    std::span<const std::int32_t> tokens;  ///< the text so far
    const Request* request = nullptr;
    std::shared_ptr<const SearchPlan> plan = {};
  };
  /// One candidate for each row of logits [rows, V], which are overwritten. Its token is -1, or its log-probability -inf, where the
  /// search allows none.
  std::vector<Candidate> find(Context& c, const Tensor& logits, std::span<const Row> rows);
  /// Forgets the plans.
  void clear() { finders_.clear(); }

 private:
  CandidateFinder& finder_of(const std::shared_ptr<const SearchPlan>& plan);

  std::int64_t vocab_size_;
  bool scores_;
  std::vector<std::pair<std::shared_ptr<const SearchPlan>, CandidateFinder>> finders_;
};

}  // namespace tril::search
