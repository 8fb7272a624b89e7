// One matrix of queries, keys and values as files hold it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tril::model {

/// `groups` of heads, in each the rows of its queries, then of its keys, then of its values; one group is the model's order.
struct FusedLayout {
  std::int64_t groups = 1;
  std::int64_t query_rows = 0, key_rows = 0;  ///< of all groups; values have as many as keys
  bool values_before_keys = false;            ///< in each group
};

/// StoredAs::row_order of such a matrix, or of its bias.
std::vector<std::int32_t> fused_rows(const FusedLayout& layout);

/// The same of other parts: files have `groups`, in each the rows of each part, parts[i] of part i. The model has the parts
/// one below the other.
std::vector<std::int32_t> grouped_rows(std::int64_t groups, std::span<const std::int64_t> parts);

}  // namespace tril::model
