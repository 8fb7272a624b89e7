// How many tokens to propose at a time in speculative decoding (speculative.h), by measurement: the number that makes most
// tokens per second. That is none where proposals are mostly wrong or the proposer is slow.
//
// Step times are measured for each length. The median of the last ones counts: a step that another process has held up, even the
// first one, does not decide. Acceptance is measured by place: p_i is the share of the rows that had a proposal i with which the
// model agreed, among those where it agreed with all before. A proposal that was not made counts as a disagreement. A step of
// length k makes 1 + p_1 + p_1 p_2 + ... + p_1 ... p_k tokens of a row [Leviathan et al. 2023, section 3.3, with a probability for
// each place]. The averages forget, since texts change.
//
// A length that was not tried lately must be tried again, which may lose time. What is lost is counted, and nothing is proposed
// while the loss exceeds the time of two steps plus 2% of the whole.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tril::search {

class ProposalLength {
 public:
  /// @param most  the largest length, at least 1
  explicit ProposalLength(std::int32_t most);

  /// The length for the next step, from 0 to `most`.
  /// @param rows   of the step
  /// @param share  of them that may get proposals, above 0 and at most 1
  std::int32_t next(std::size_t rows, double share = 1);

  /// What a step of length `length` did.
  struct Measured {
    std::size_t rows = 1;                    ///< those without proposals too
    std::int32_t length = 0;                 ///< 0 too if nothing was proposed, and that took no time
    std::span<const std::int32_t> proposed;  ///< [rows that may get proposals] their numbers
    std::span<const std::int32_t> accepted;  ///< [the same rows]
    double seconds = 0;                      ///< of the proposer and of the model
    bool catches_up = false;                 ///< the proposer had to read more than this step's tokens before
  };
  void add(const Measured& step);

 private:
  /// An average that forgets.
  struct Mean {
    double sum = 0, weight = 0;
    void add(double x) { sum = sum * kept + x, weight = weight * kept + 1; }
    bool known() const { return weight > 0; }
    double value() const { return sum / weight; }
    static constexpr double kept = 0.95;
  };
  /// The median of the last values.
  class Median {
   public:
    void add(double x);
    std::int64_t count() const { return count_; }  ///< of all values so far
    bool known() const { return count_ > 0; }
    double value() const { return value_; }  ///< of two in the middle, the smaller one

   private:
    // Nine: fewer lose more where times are noisy, and more take too long to follow a text that changes.
    std::array<double, 9> last_{};
    std::int64_t count_ = 0;
    double value_ = 0;
  };
  /// Measured with about the same number of rows.
  struct Times {
    std::vector<Median> seconds;      ///< by length
    std::vector<std::int64_t> tried;  ///< the number of the last step with this length
  };

  Times& times_of(std::size_t rows);
  double seconds_of(const Times& t, std::int32_t length) const;
  double tokens_of(std::int32_t length) const;
  std::int32_t best(const Times& t, std::int32_t least, double share) const;

  std::int32_t most_;
  std::vector<Mean> agreed_;  ///< by place
  std::array<Times, 16> times_;
  std::int64_t steps_ = 0, next_trial_ = 0, pause_ = first_pause;
  double lost_ = 0, all_ = 0;  ///< seconds
  static constexpr std::int64_t first_pause = 8, longest_pause = 64;
};

}  // namespace tril::search
