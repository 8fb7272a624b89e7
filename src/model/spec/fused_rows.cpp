#include "model/spec/fused_rows.h"

#include <array>

namespace tril::model {
namespace {

/// Rows [first, first + count) of each group.
struct Part {
  std::int64_t first = 0, count = 0;
};

std::vector<std::int32_t> part_by_part(std::int64_t groups, std::int64_t rows_of_group, std::span<const Part> parts) {
  std::vector<std::int32_t> rows;
  for (const auto& [first, count] : parts)
    for (std::int64_t g = 0; g < groups; ++g)
      for (std::int64_t j = 0; j < count; ++j) rows.push_back(static_cast<std::int32_t>(g * rows_of_group + first + j));
  return rows;
}

}  // namespace

std::vector<std::int32_t> fused_rows(const FusedLayout& layout) {
  const std::int64_t q = layout.query_rows / layout.groups, kv = layout.key_rows / layout.groups;  // of a group
  const std::int64_t keys = layout.values_before_keys ? q + kv : q, values = layout.values_before_keys ? q : q + kv;
  return part_by_part(layout.groups, q + 2 * kv, std::array{Part{0, q}, Part{keys, kv}, Part{values, kv}});
}

std::vector<std::int32_t> grouped_rows(std::int64_t groups, std::span<const std::int64_t> parts) {
  std::vector<Part> list;
  std::int64_t all = 0;
  for (const std::int64_t count : parts) list.push_back({all, count}), all += count;
  return part_by_part(groups, all, list);
}

}  // namespace tril::model
