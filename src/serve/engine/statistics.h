// Numbers of a model at work. The server counts them up, and /metrics reads them (metrics.h).
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <thread>

namespace tril::serve {

/// Only ever grows.
class Counter {
 public:
  void add(std::uint64_t n) { value_.fetch_add(n, std::memory_order_relaxed); }
  std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_ = 0;
};

/// How often a quantity was how large: buckets whose bounds grow by a tenth of a decade, from 10^-5 to 10^5, so that a
/// quantile is known within a quarter.
class Histogram {
 public:
  static constexpr int per_decade = 10, lowest = -5, highest = 5;
  static constexpr int buckets = (highest - lowest) * per_decade;

  void add(double value);
  std::uint64_t count() const { return count_.value(); }
  double sum() const { return sum_.load(std::memory_order_relaxed); }
  /// The upper bound of the bucket that holds the quantile q of [0, 1]; 0 where there is nothing.
  double quantile(double q) const;
  /// How many were at most `bound`.
  std::uint64_t at_most(double bound) const;
  static double upper_bound(int bucket);

 private:
  std::array<Counter, buckets + 1> counts_;
  Counter count_;
  std::atomic<double> sum_ = 0;
};

struct Statistics {
  Counter ended, cancelled, late, failed, refused;  ///< sentences, by what came of them
  Counter source_tokens, new_tokens;
  Counter steps, rows, prompt_tokens;  ///< of steps
  Counter remembered_tokens;           ///< of prompts that need not be read, as others began alike
  Histogram batch_rows;                ///< rows of a step
  Histogram queue_seconds, first_token_seconds, seconds;

  void step(std::size_t step_rows, std::size_t step_prompt_tokens, std::size_t step_remembered = 0);
  void forget(std::thread::id worker);
  struct Cache {
    std::int64_t used_slots = 0;     ///< of those who are decoded
    std::int64_t prefix_tokens = 0;  ///< that stay for those who begin alike
    std::int64_t bytes = 0;
  };
  /// A worker's.
  void cache(std::thread::id worker, const Cache& cache);
  /// Of all workers.
  Cache cache() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::thread::id, Cache> caches_;
};

}  // namespace tril::serve
