// Things of different sizes shared out among several workers, neighbours together.
#pragma once

#include <algorithm>
#include <cstdint>

namespace tril {

/// Whose turn each of them is: parts are equal in size, cut between things.
class EvenPartition {
 public:
  /// @param total  the sizes of all
  EvenPartition(std::int64_t total, std::int64_t parts) : total_(std::max<std::int64_t>(total, 1)), parts_(parts) {}
  /// The part that the next one belongs to.
  std::int64_t next(std::int64_t size) {
    const std::int64_t part = std::min(parts_ - 1, done_ * parts_ / total_);
    done_ += size;
    return part;
  }

 private:
  std::int64_t total_, parts_, done_ = 0;
};

}  // namespace tril
