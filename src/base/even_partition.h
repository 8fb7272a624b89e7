// Divides items among workers so that neighbours stay together.
#pragma once

#include <algorithm>
#include <cstdint>

namespace tril {

/// Where the part of this number begins if n equal items are divided into even parts; it ends where the next one begins.
constexpr std::int64_t part_begin(std::int64_t n, std::int64_t part, std::int64_t parts) {
  return n * part / parts;
}

/// How many of the equal pieces of an item, which begins at `at` and has a size above 0, lie before `end`. Parts that end where
/// the next one begins have each piece once.
constexpr std::int64_t pieces_before(std::int64_t end, std::int64_t at, std::int64_t size, std::int64_t pieces) {
  return std::clamp<std::int64_t>(end - at, 0, size) * pieces / size;
}

/// Assigns consecutive items to parts of about equal total size.
class EvenPartition {
 public:
  /// @param total  the sum of all sizes
  EvenPartition(std::int64_t total, std::int64_t parts) : total_(std::max<std::int64_t>(total, 1)), parts_(parts) {}
  /// The part of the next item, which has this size.
  std::int64_t next(std::int64_t size) {
    const std::int64_t part = std::min(parts_ - 1, done_ * parts_ / total_);
    done_ += size;
    return part;
  }

 private:
  std::int64_t total_, parts_, done_ = 0;
};

}  // namespace tril
