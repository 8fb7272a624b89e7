// What a step's logits come to for a search: the candidates of each row, on the host, the likeliest or drawn ones, after
// all processors (processors.h) and warpers (warpers.h).
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <vector>

#include "search/decode.h"
#include "search/processors.h"
#include "search/warpers.h"

namespace tril::search {

using Clock = std::chrono::steady_clock;

/// Whether a search that began then has had its time.
inline bool is_late(Clock::time_point begun, const SearchOptions& options) {
  return options.time_limit > 0 && std::chrono::duration<double>(Clock::now() - begun).count() >= options.time_limit;
}

class CandidateFinder {
 public:
  /// @param k  candidates of a row
  /// @param scores  whether their log-probabilities are wanted; without, their logits stand there
  CandidateFinder(const SearchOptions& options, std::int64_t vocab_size, std::int32_t k, bool scores);

  /// Of the rows seen last: as many as the search wants, and room for RowView::wanted.
  std::int32_t k() const { return width_; }
  /// Whether what is asked of the logits can be said in rules, so that the best of them are enough.
  bool may_skip_logits() const { return may_skip_logits_; }
  /// [rows * k()]; valid until the next call. Logits are overwritten.
  /// @param columns  the ids that those of the logits stand for, ascending; none: all
  std::span<const Candidate> find(Context& c, const Following& following, std::span<const RowView> rows,
                                  std::span<const std::int32_t> columns = {});

 private:
  std::span<const Candidate> find(Context& c, const Tensor& logits, std::span<const RowView> rows,
                                  std::span<const std::int32_t> columns);
  std::span<const Candidate> find_without_logits(Context& c, const Following& following, std::span<const RowView> rows);
  void take_best(Context& c, const Tensor& logits, std::span<const float> log_sums);
  void take_wanted(Context& c, const Tensor& logits, std::span<const float> log_sums, std::span<const RowView> rows,
                   std::span<const std::int32_t> columns);
  void draw_each(const Tensor& logits, std::span<const float> log_sums, std::span<const RowView> rows);

  Processors processors_;
  SamplingOptions sampling_;
  std::int32_t k_, width_ = 0;
  bool scores_, renormalize_, on_log_probs_, may_skip_logits_ = false;
  std::vector<RowRule> rules_;
  std::vector<std::vector<std::int32_t>> forbidden_;
  std::vector<Candidate> found_;
  Choices choices_;
};

}  // namespace tril::search
