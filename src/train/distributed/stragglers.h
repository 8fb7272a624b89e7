// Detects ranks that keep the others waiting: an update takes as long as its slowest rank.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tril::train {

class Stragglers {
 public:
  /// Adds each rank's seconds for its gradient. @return the ranks that took more than 1.5 times as long as the median
  /// rank over the last hundred updates; reported once in a thousand updates
  struct Slow {
    int rank = 0;
    double seconds = 0;  ///< per update
  };
  std::vector<Slow> add(const std::vector<double>& seconds) {
    if (seconds.size() < 2) return {};
    sums_.resize(seconds.size());
    for (std::size_t r = 0; r < seconds.size(); ++r) sums_[r] += seconds[r];
    if (++updates_ % window != 0) return {};
    std::vector<double> sorted = sums_;
    // Of an even number the lower middle: of two ranks the faster.
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>((sorted.size() - 1) / 2);
    std::nth_element(sorted.begin(), middle, sorted.end());
    std::vector<Slow> slow;
    for (std::size_t r = 0; r < sums_.size(); ++r)
      if (sums_[r] > 1.5 * *middle) slow.push_back({static_cast<int>(r), sums_[r] / window});
    median_ = *middle / window;
    std::fill(sums_.begin(), sums_.end(), 0.0);
    if (slow.empty() || updates_ < silent_until_) return {};
    silent_until_ = updates_ + 10 * window;
    return slow;
  }
  /// Seconds per update in the latest window.
  double median() const { return median_; }

 private:
  static constexpr std::int64_t window = 100;
  std::vector<double> sums_;
  std::int64_t updates_ = 0, silent_until_ = 0;
  double median_ = 0;
};

}  // namespace tril::train
