// A map from pairs of pieces to their merge: a hash table with open addressing, usually one memory access per lookup.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace tril {

class MergeTable {
 public:
  struct Merge {
    std::int32_t rank = -1;  ///< lower ranks merge first; -1: the pair does not merge
    std::int32_t id = -1;    ///< of the merged piece
  };

  explicit MergeTable(std::size_t pairs) : slots_(std::bit_ceil(2 * pairs + 2)), mask_(slots_.size() - 1) {}

  /// Replaces the merge of an existing pair.
  void set(std::int32_t left, std::int32_t right, Merge merge) {
    slots_[place(key(left, right))] = {key(left, right), merge};
  }
  Merge find(std::int32_t left, std::int32_t right) const {
    const Slot& slot = slots_[place(key(left, right))];
    return slot.key == free ? Merge{} : slot.merge;
  }

 private:
  static constexpr std::uint64_t free = ~std::uint64_t{0};
  struct Slot {
    std::uint64_t key = free;
    Merge merge;
  };

  static std::uint64_t key(std::int32_t left, std::int32_t right) {
    return std::uint64_t{static_cast<std::uint32_t>(left)} << 32 | static_cast<std::uint32_t>(right);
  }
  std::size_t place(std::uint64_t k) const {
    std::uint64_t h = k * 0x9e3779b97f4a7c15ull;
    h ^= h >> 32;
    std::size_t i = h & mask_;
    while (slots_[i].key != k && slots_[i].key != free) i = (i + 1) & mask_;
    return i;
  }

  std::vector<Slot> slots_;
  std::size_t mask_;
};

}  // namespace tril
