// Divides items of different sizes among workers so that neighbours stay together.
#pragma once

#include <algorithm>
#include <cstdint>

namespace tril {

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
