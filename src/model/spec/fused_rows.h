// Rows of one matrix of several parts, such as queries, keys and values, as files hold it.
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

/// Likewise of a matrix whose rows files hold in `groups`, in each the rows of several parts, `sizes[i]` of part i; the model
/// has all rows of part 0, then those of part 1, ...
std::vector<std::int32_t> rows_by_part(std::int64_t groups, std::span<const std::int64_t> sizes);

}  // namespace tril::model
