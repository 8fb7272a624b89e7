// A set of token ids that takes little memory, as a list while the ids are few, and as bits when those are smaller.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include "base/as_size.h"
#include "grammar/automata/id_bits.h"

namespace tril::search {

class IdSet {
 public:
  /// @param words  of the bits of all ids
  explicit IdSet(std::vector<std::int32_t> ids = {}, std::size_t words = 0)
      : count_(std::ssize(ids)), ids_(std::move(ids)) {
    if (ids_.size() <= 2 * words) return;
    bits_.assign(words, 0);
    for (const std::int32_t id : ids_) set_bit(bits_, id);
    ids_ = {};
  }
  std::int64_t count() const { return count_; }
  std::size_t size_in_bytes() const { return ids_.size() * sizeof ids_[0] + bits_.size() * sizeof bits_[0]; }
  /// @param mask  which has a word for each id
  void add_to(std::vector<std::uint64_t>& mask) const {
    for (std::size_t word = 0; word < bits_.size(); ++word) mask[word] |= bits_[word];
    for (const std::int32_t id : ids_) set_bit(mask, id);
  }
  void take_from(std::vector<std::uint64_t>& mask) const {
    for (std::size_t word = 0; word < bits_.size(); ++word) mask[word] &= ~bits_[word];
    for (const std::int32_t id : ids_) mask[as_size(id / 64)] &= ~(std::uint64_t{1} << id % 64);
  }

 private:
  std::int64_t count_;
  std::vector<std::int32_t> ids_;
  std::vector<std::uint64_t> bits_;
};

}  // namespace tril::search
