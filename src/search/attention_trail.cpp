#include "search/attention_trail.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace tril::search {

void AttentionTrail::begin() {
  source_ = 0;
  weights_.clear(), nodes_.clear(), looked_.clear();
  rows_.assign(1, -1);
}

void AttentionTrail::look(std::span<const float> weights) {
  looked_.clear();
  if (weights.empty()) return;
  check(weights.size() % rows_.size() == 0, "attention", "{} weights for {} rows", weights.size(), rows_.size());
  source_ = weights.size() / rows_.size();
  for (const std::int32_t parent : rows_) {
    looked_.push_back(static_cast<std::int32_t>(nodes_.size()));
    nodes_.push_back({parent, weights_.size() + (looked_.size() - 1) * source_});
  }
  weights_.insert(weights_.end(), weights.begin(), weights.end());
}

void AttentionTrail::follow(std::span<const std::int32_t> parents) {
  next_rows_.clear();
  for (const std::int32_t row : parents) next_rows_.push_back(looked_.empty() ? -1 : looked_[row]);
  rows_.swap(next_rows_);
}

std::vector<float> AttentionTrail::path(std::int32_t node) const {
  std::vector<std::size_t> places;  // from the last token to the first
  for (; node >= 0; node = nodes_[node].parent) places.push_back(nodes_[node].weights);
  std::vector<float> all;
  all.reserve(places.size() * source_);
  for (auto place = places.rbegin(); place != places.rend(); ++place)
    all.insert(all.end(), weights_.begin() + static_cast<std::ptrdiff_t>(*place),
               weights_.begin() + static_cast<std::ptrdiff_t>(*place + source_));
  return all;
}

std::vector<float> AttentionTrail::with_next(std::int32_t row) const {
  return looked_.empty() ? std::vector<float>() : path(looked_[row]);
}

std::vector<float> AttentionTrail::so_far(std::int32_t row) const {
  return path(rows_[row]);
}

double coverage_penalty(std::span<const float> attention, std::size_t tokens, double beta) {
  if (beta == 0 || tokens == 0) return 0;
  const std::size_t source = attention.size() / tokens;
  double sum = 0;
  for (std::size_t s = 0; s < source; ++s) {
    double covered = 0;
    for (std::size_t at = s; at < attention.size(); at += source) covered += static_cast<double>(attention[at]);
    if (covered > 0) sum += std::log(std::min(covered, 1.0));
  }
  return beta * sum;
}

}  // namespace tril::search
