// What a step's logits come to for a search: the candidates of each row, on the host, the likeliest or drawn ones, after
// all processors (processors.h) and warpers (warpers.h).
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <vector>

#include "search/processors.h"
#include "search/step.h"
#include "search/warpers.h"

namespace tril::search {

using Clock = std::chrono::steady_clock;

/// Whether a search that began then has had its time.
inline bool is_late(Clock::time_point begun, const SearchPlan& options) {
  return options.time_limit > 0 && std::chrono::duration<double>(Clock::now() - begun).count() >= options.time_limit;
}

/// @throws Error where a log-probability is NaN, as those of a damaged model are
void check_number(double log_prob);

class CandidateFinder;

/// The best candidates straight from the quantised matrix that would make logits, for rows of several searches at once.
class ProjectedFinder {
 public:
  /// Rows beside each other and the finder of their search, which may skip logits.
  struct Part {
    const CandidateFinder* finder;
    std::span<const RowView> rows;
  };
  /// Of every row the k() best, [rows * k()]; valid until the next call.
  std::span<const Candidate> find(Context& c, const StepOutput& output, std::span<const Part> parts);
  /// Of the last call: as many as the search that wants most.
  std::int32_t k() const { return k_; }

 private:
  std::int32_t k_ = 0;
  std::vector<RowRule> rules_;
  std::vector<std::vector<std::int32_t>> forbidden_;
  std::vector<Candidate> found_;
};

class CandidateFinder {
 public:
  /// @param k  candidates of a row
  /// @param scores  whether their log-probabilities are wanted; without, they are logits
  CandidateFinder(const SearchPlan& options, std::int64_t vocab_size, std::int32_t k, bool scores);

  /// Of the rows seen last: as many as the search wants, and room for RowView::wanted.
  std::int32_t k() const { return width_; }
  std::int32_t candidates_wanted() const { return k_; }
  /// Of the rows seen last the likeliest, [rows * top_count()], whatever is drawn; SearchPlan::top_log_probs.
  std::span<const Candidate> tops() const { return tops_; }
  std::int32_t top_count() const { return top_; }
  bool scores() const { return scores_; }
  /// What is done to the logits of a row, where that can be said in rules.
  void rule(const RowView& row, RowRule& rule) const;
  /// Whether what is asked of the logits can be said in rules, so that the best of them are enough.
  bool may_skip_logits() const { return may_skip_logits_; }
  /// [rows * k()]; valid until the next call. Logits are overwritten.
  /// @param columns  the ids of the logits' columns, ascending; none: all
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
  std::ptrdiff_t before_sums_ = 0;  // so many processors act before log-probabilities are normalised
  SamplingOptions sampling_;
  std::int32_t k_, width_ = 0, top_;
  bool scores_, renormalize_, on_log_probs_, may_skip_logits_ = false;
  std::vector<Candidate> found_, tops_;
  Choices choices_;
  ProjectedFinder projected_;
};

}  // namespace tril::search
