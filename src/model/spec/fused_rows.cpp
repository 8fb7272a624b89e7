#include "model/spec/fused_rows.h"

#include <numeric>
#include <utility>

namespace tril::model {

std::vector<std::int32_t> rows_by_part(std::int64_t groups, std::span<const std::int64_t> sizes) {
  const std::int64_t all = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
  std::vector<std::int32_t> rows;
  std::int64_t first = 0;
  for (const std::int64_t size : sizes) {
    for (std::int64_t g = 0; g < groups; ++g)
      for (std::int64_t j = 0; j < size; ++j) rows.push_back(static_cast<std::int32_t>(g * all + first + j));
    first += size;
  }
  return rows;
}

std::vector<std::int32_t> fused_rows(const FusedLayout& layout) {
  const std::int64_t q = layout.query_rows / layout.groups, kv = layout.key_rows / layout.groups;  // of a group
  const std::int64_t keys = layout.values_before_keys ? q + kv : q, values = layout.values_before_keys ? q : q + kv;
  std::vector<std::int32_t> rows;
  for (const auto& [first, count] : {std::pair{std::int64_t{0}, q}, {keys, kv}, {values, kv}})
    for (std::int64_t g = 0; g < layout.groups; ++g)
      for (std::int64_t j = 0; j < count; ++j) rows.push_back(static_cast<std::int32_t>(g * (q + 2 * kv) + first + j));
  return rows;
}

}  // namespace tril::model
