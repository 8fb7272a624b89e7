// The ids of a mask by their number, to draw one of them.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace tril {

/// @param n  from 0, below the number of bits that are set
inline std::int32_t nth_id(const std::vector<std::uint64_t>& mask, std::int64_t n) {
  for (std::size_t word = 0; word < mask.size(); ++word) {
    const int here = std::popcount(mask[word]);
    if (n >= here) {
      n -= here;
      continue;
    }
    std::uint64_t bits = mask[word];
    for (; n > 0; --n) bits &= bits - 1;
    return static_cast<std::int32_t>(word * 64) + std::countr_zero(bits);
  }
  return -1;
}

}  // namespace tril
