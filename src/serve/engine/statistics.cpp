#include "serve/engine/statistics.h"

#include <algorithm>
#include <cmath>

namespace tril::serve {

void Histogram::add(double value) {
  const double place = value > 0 ? std::ceil((std::log10(value) - lowest) * per_decade - 1e-9) : 0;
  counts_[static_cast<std::size_t>(std::clamp(place, 0.0, static_cast<double>(buckets)))].add(1);
  count_.add(1);
  sum_.fetch_add(value, std::memory_order_relaxed);
}

double Histogram::upper_bound(std::size_t bucket) {
  return std::pow(10.0, lowest + static_cast<double>(bucket) / per_decade);
}

double Histogram::quantile(double q) const {
  const double wanted = q * static_cast<double>(count());
  double seen = 0;
  for (std::size_t b = 0; b <= buckets; ++b) {
    seen += static_cast<double>(counts_[b].value());
    if (seen >= wanted && seen > 0) return upper_bound(b);
  }
  return 0;
}

std::uint64_t Histogram::at_most(double bound) const {
  std::uint64_t n = 0;
  for (std::size_t b = 0; b <= buckets && upper_bound(b) <= bound * (1 + 1e-9); ++b) n += counts_[b].value();
  return n;
}

void Statistics::step(std::size_t step_rows, std::size_t step_prompt_tokens, std::size_t step_remembered) {
  steps.add(1);
  rows.add(step_rows);
  prompt_tokens.add(step_prompt_tokens);
  remembered_tokens.add(step_remembered);
  batch_rows.add(static_cast<double>(step_rows));
}

void Statistics::cache(std::thread::id worker, const Cache& cache) {
  const std::lock_guard lock(mutex_);
  caches_[worker] = cache;
}

void Statistics::forget(std::thread::id worker) {
  const std::lock_guard lock(mutex_);
  caches_.erase(worker);
}

Statistics::Cache Statistics::cache() const {
  const std::lock_guard lock(mutex_);
  Cache sum;
  for (const auto& [worker, cache] : caches_) {
    sum.used_slots += cache.used_slots;
    sum.prefix_tokens += cache.prefix_tokens;
    sum.bytes += cache.bytes;
  }
  return sum;
}

}  // namespace tril::serve
