// The row order of matrices that files store fused: queries, keys and values in one, or other parts.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tril::model {

/// Files have `groups` of heads one below the other: in each group the rows of its queries, then keys, then values. One
/// group is the model's order.
struct FusedLayout {
  std::int64_t groups = 1;
  std::int64_t query_rows = 0, key_rows = 0;  ///< of all groups; values have as many as keys
  bool values_before_keys = false;            ///< in each group
};

/// StoredAs::row_order of such a matrix, or of its bias.
std::vector<std::int32_t> fused_rows(const FusedLayout& layout);

/// The same for other parts. Each group in the files has parts[i] rows of part i, part after part. The model has all rows
/// of part 0, then of part 1, and so on.
std::vector<std::int32_t> grouped_rows(std::int64_t groups, std::span<const std::int64_t> parts);

}  // namespace tril::model
