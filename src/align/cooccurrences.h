// The target ids that co-occur with each source id in some pair of rows. Each co-occurrence has a number, so that EM's
// counts are vectors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/element.h"

namespace tril {

class Cooccurrences {
 public:
  using Row = std::span<const std::int32_t>;
  /// Calls its argument with the source and target ids of every pair of rows.
  using EachPair = std::function<void(const std::function<void(Row source, Row target)>&)>;

  /// @param sources  above every source id; as a source id it means NULL, which co-occurs with every target id
  Cooccurrences(const EachPair& each_pair, std::int64_t sources);

  std::int64_t sources() const { return std::ssize(begin_) - 2; }
  std::size_t size() const { return keys_.size(); }
  /// The co-occurrences of a source id are those numbered from begin to end, in the order of target ids.
  std::size_t begin(std::int64_t source) const { return element(begin_, source); }
  std::size_t end(std::int64_t source) const { return element(begin_, source + 1); }
  std::int32_t target(std::size_t place) const { return static_cast<std::int32_t>(keys_[place] & 0xffffffffu); }
  /// The number of (source, target), which must co-occur.
  std::size_t place(std::int64_t source, std::int32_t target) const;

  /// Divides the values of each source id by their sum.
  void normalise(std::vector<double>& values) const;

 private:
  void merge(std::vector<std::uint64_t>& fresh);

  std::vector<std::uint64_t> keys_;  ///< source << 32 | target, ascending
  std::vector<std::size_t> begin_;
};

}  // namespace tril
