// Greedy search and sampling: hypotheses that do not compete.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "search/search.h"

namespace tril::search {

/// Each hypothesis grows by one token per step, independently of the others. With the likeliest tokens as candidates this is
/// greedy search; with drawn candidates the hypotheses are samples. All start from the first row, which has one candidate
/// for each of them; afterwards each has a row of its own until it ends.
class SamplingSearch : public Search {
 public:
  explicit SamplingSearch(const SearchPlan& options) : options_(&options) {}
  static std::int32_t candidates_per_row(const SearchPlan& options) { return options.n_best; }

  void begin(const Request& request) override;
  bool done() const override { return rows_.empty(); }
  const Request& request() const override { return request_; }
  std::int32_t rows() const override { return static_cast<std::int32_t>(rows_.size()); }
  RowView view(std::int32_t row) const override;
  std::int32_t parent(std::int32_t row) const override { return rows_[row].parent; }
  std::int32_t token(std::int32_t row) const override { return samples_[sample(row)].tokens.back(); }
  std::int32_t best_row() const override { return 0; }
  using Search::advance;
  void advance(std::span<const Candidate> candidates, std::int32_t k, const Seen& seen) override;
  void cut(StopReason why) override;
  /// In the order of the samples.
  std::vector<Hypothesis> hypotheses() const override;
  std::span<const Added> added() const override { return added_; }

 private:
  struct Row {
    std::int32_t sample, parent;
  };
  struct Sample {
    std::vector<std::int32_t> tokens;  ///< the start token and the prefix first
    double log_prob = 0;
    std::vector<float> attention;
    std::vector<TokenScore> token_scores;
    StopReason stop_reason = StopReason::length;  ///< valid once it has ended
  };
  std::size_t sample(std::int32_t row) const { return rows_[row].sample; }
  bool extend(std::size_t sample, const Candidate& candidate);
  double score_of(const Sample& s) const;
  /// Tells the observer of the last token of `added_`, and of a sample that ends without one.
  void note(std::int32_t row) const;

  const SearchPlan* options_;
  Request request_;
  std::vector<Sample> samples_;
  std::vector<Row> rows_, next_rows_;
  std::vector<Added> added_;
  bool forked_ = false;  ///< true once each sample has a row of its own
};

}  // namespace tril::search
