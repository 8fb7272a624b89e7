// Reference-counted slot numbers of a table that grows.
#pragma once

#include <cstdint>
#include <vector>

#include "base/as_size.h"

namespace tril::nn {

/// A slot is free again when nothing refers to it.
class SlotPool {
 public:
  std::int64_t capacity() const { return std::ssize(references_); }
  std::int64_t used() const { return capacity() - free(); }
  std::int64_t free() const { return std::ssize(free_); }

  /// Adds slots up to this capacity; does nothing if it has as many.
  void grow(std::int64_t capacity) {
    std::vector<std::int32_t> fresh;
    for (std::int64_t s = capacity; s-- > this->capacity();) fresh.push_back(static_cast<std::int32_t>(s));
    free_.insert(free_.begin(), fresh.begin(), fresh.end());
    if (capacity > this->capacity()) references_.resize(as_size(capacity), 0);
  }
  void clear() { references_.clear(), free_.clear(); }

  /// A free slot, which now has one reference. There must be one.
  std::int32_t take() {
    const std::int32_t slot = free_.back();
    free_.pop_back();
    at(slot) = 1;
    return slot;
  }
  void share(std::int32_t slot) { ++at(slot); }
  void release(std::int32_t slot) {
    if (--at(slot) == 0) free_.push_back(slot);
  }
  bool is_shared(std::int32_t slot) const { return *(references_.begin() + slot) > 1; }

 private:
  std::int32_t& at(std::int32_t slot) { return *(references_.begin() + slot); }

  std::vector<std::int32_t> references_;
  std::vector<std::int32_t> free_;  // largest first, so that slots are handed out in order
};

}  // namespace tril::nn
