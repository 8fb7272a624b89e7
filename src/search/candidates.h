// From a step's logits to the candidates of each row: applies the processors (processors.h), then takes the likeliest tokens,
// or applies the warpers (warpers.h) and samples. Candidates are in host memory.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <vector>

#include "search/likely_tokens.h"
#include "search/processors.h"
#include "search/step.h"
#include "search/warpers.h"

namespace tril::search {

using Clock = std::chrono::steady_clock;

/// True if a search that began at `begun` has exceeded its time limit.
inline bool is_late(Clock::time_point begun, const SearchPlan& options) {
  return options.time_limit > 0 && std::chrono::duration<double>(Clock::now() - begun).count() >= options.time_limit;
}

/// @throws Error if a log-probability is NaN, as with damaged weights
void check_number(double log_prob);

class CandidateFinder;

/// Finds the best candidates from hidden states and output matrices. One call serves rows of several searches.
class ProjectedFinder {
 public:
  /// Consecutive rows of one search, and its finder, whose may_skip_logits() is true.
  struct Part {
    const CandidateFinder* finder;
    std::span<const RowView> rows;
  };
  /// The k() best candidates of every row, [rows, k()]; valid until the next call.
  std::span<const Candidate> find(Context& c, const StepOutput& output, std::span<const Part> parts);
  /// Candidates per row of the last call: the largest number that any of its searches needs.
  std::int32_t k() const { return k_; }
  /// For observers: the likeliest tokens of every row of the last call, [rows, observed_count()].
  std::span<const LikelyToken> observed() const { return observed_; }
  std::int32_t observed_count() const { return observed_count_; }

 private:
  std::int32_t k_ = 0;
  std::vector<RowRule> rules_;
  std::vector<std::vector<std::int32_t>> forbidden_;
  std::vector<Candidate> found_;
  std::int32_t observed_count_ = 0;
  std::vector<LikelyToken> observed_;
};

class CandidateFinder {
 public:
  /// @param k       candidates per row
  /// @param scores  true: Candidate::log_prob is a log-probability; false: it is a logit
  CandidateFinder(const SearchPlan& options, std::int64_t vocab_size, std::int32_t k, bool scores);

  /// Candidates per row of the last find(): candidates_wanted(), and room for RowView::wanted.
  std::int32_t k() const { return width_; }
  std::int32_t candidates_wanted() const { return k_; }
  /// The likeliest tokens of each row of the last find(), [rows, top_count()], sampled or not; see
  /// SearchPlan::top_log_probs.
  std::span<const Candidate> tops() const { return tops_; }
  std::int32_t top_count() const { return top_; }
  /// The likeliest tokens of each row of the last find(), [rows, observed_count()]; see SearchPlan::observed_tokens.
  std::span<const LikelyToken> observed() const { return observed_; }
  std::int32_t observed_count() const { return observed_count_; }
  bool scores() const { return scores_; }
  /// The tokens of a row that are forbidden or forced. Complete only if may_skip_logits().
  void rule(const RowView& row, RowRule& rule) const;
  /// True if rule() describes everything that is done to the logits, so that the best candidates are enough.
  bool may_skip_logits() const { return may_skip_logits_; }
  /// The candidates of each row, [rows, k()]; valid until the next call. Overwrites the logits.
  /// @param columns  the ids of the logits' columns, ascending; empty: all ids
  std::span<const Candidate> find(Context& c, const StepOutput& output, std::span<const RowView> rows,
                                  std::span<const std::int32_t> columns = {});
  std::span<const Candidate> find(Context& c, Tensor logits, std::span<const RowView> rows,
                                  std::span<const std::int32_t> columns = {});

 private:
  /// [rows, V], and what is subtracted from each row to make log-probabilities.
  struct Scores {
    const Tensor& logits;
    std::span<const float> log_sums;
  };
  /// Writes the k best of each row to `to`, [rows, width].
  static void take_best(Context& c, const Scores& scores, std::int32_t k, std::int32_t width,
                        std::vector<Candidate>& to);
  void take_wanted(Context& c, const Scores& scores, std::span<const RowView> rows,
                   std::span<const std::int32_t> columns);
  void draw_each(const Scores& scores, std::span<const RowView> rows);

  Processors processors_;
  std::ptrdiff_t before_sums_ = 0;  // processors that act before the log-probabilities are normalised
  SamplingOptions sampling_;
  std::int32_t k_, width_ = 0, top_, observed_count_;
  bool scores_, renormalize_, on_log_probs_, may_skip_logits_ = false;
  std::vector<Candidate> found_, tops_;
  std::vector<LikelyToken> likely_;
  std::span<const LikelyToken> observed_;  // likely_, or those of projected_
  Choices choices_;
  ProjectedFinder projected_;
};

}  // namespace tril::search
