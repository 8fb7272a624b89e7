// Ragged rows of queries and keys for tests of attention.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "ops/ops.h"

namespace tril::test {

using kern::RowSpan;

/// The tokens that rows reach over.
inline std::int64_t queries(const std::vector<RowSpan>& spans) {
  std::int64_t n = 0;
  for (const RowSpan& r : spans) n = std::max<std::int64_t>(n, r.q_begin + r.q_len);
  return n;
}
inline std::int64_t keys(const std::vector<RowSpan>& spans) {
  std::int64_t n = 0;
  for (const RowSpan& r : spans) n = std::max<std::int64_t>(n, r.k_begin + r.k_len);
  return n;
}

inline ops::Spans shared(const std::vector<RowSpan>& spans) {
  return std::make_shared<const std::vector<RowSpan>>(spans);
}

/// Two ragged rows of self-attention, and rows with other keys than queries (one with none).
inline const std::vector<RowSpan> self_rows{{0, 3, 0, 3}, {3, 0, 3, 0}, {3, 5, 3, 5}},
    cross_rows{{0, 2, 0, 5}, {2, 3, 5, 1}, {5, 1, 6, 4}};

}  // namespace tril::test
