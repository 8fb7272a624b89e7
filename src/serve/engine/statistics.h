// Counts and times of a served model, which /metrics reports (metrics.h).
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <thread>

namespace tril::serve {

/// A number that only grows.
class Counter {
 public:
  void add(std::uint64_t n) { value_.fetch_add(n, std::memory_order_relaxed); }
  std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_ = 0;
};

/// The distribution of a quantity: the bounds of its buckets grow by a tenth of a decade, from 10^-5 to 10^5, so that a
/// quantile is known to within 26%.
class Histogram {
 public:
  static constexpr int per_decade = 10, lowest = -5, highest = 5;
  static constexpr std::size_t buckets = std::size_t{highest - lowest} * per_decade;

  void add(double value);
  std::uint64_t count() const { return count_.value(); }
  double sum() const { return sum_.load(std::memory_order_relaxed); }
  /// The upper bound of the bucket that holds the quantile q, from 0 to 1; 0 if there are no values.
  double quantile(double q) const;
  /// The number of values up to `bound`.
  std::uint64_t at_most(double bound) const;
  static double upper_bound(std::size_t bucket);

 private:
  std::array<Counter, buckets + 1> counts_;
  Counter count_;
  std::atomic<double> sum_ = 0;
};

struct Statistics {
  Counter ended, cancelled, late, failed, refused;  ///< works by outcome
  Counter source_tokens, new_tokens;
  Counter steps, rows, prompt_tokens;        ///< decode steps, and the rows and prompt tokens that they read
  Counter remembered_tokens;                 ///< prompt tokens taken from the prefix cache
  Counter proposed_tokens, accepted_tokens;  ///< of speculative decoding
  Histogram batch_rows;                      ///< rows of a step
  Histogram queue_seconds, first_token_seconds, seconds;

  void step(std::size_t step_rows, std::size_t step_prompt_tokens, std::size_t step_remembered = 0);
  void forget(std::thread::id worker);
  struct Cache {
    std::int64_t used_slots = 0;     ///< tokens of running works
    std::int64_t prefix_tokens = 0;  ///< tokens of the prefix cache
    std::int64_t bytes = 0;
  };
  /// Sets the state of a worker's cache.
  void cache(std::thread::id worker, const Cache& cache);
  /// The sum over all workers.
  Cache cache() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::thread::id, Cache> caches_;
};

}  // namespace tril::serve
