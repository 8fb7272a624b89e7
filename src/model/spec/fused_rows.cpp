#include "model/spec/fused_rows.h"

#include <utility>

namespace tril::model {

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
