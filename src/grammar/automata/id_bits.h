// Sets of token ids as bits, 64 of them in a word.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/as_size.h"

namespace tril::search {

/// Words that hold a bit for each of `ids` ids.
constexpr std::size_t words_for(std::int64_t ids) {
  return (as_size(ids) + 63) / 64;
}
/// @param bits  which have a word for the id
inline void set_bit(std::vector<std::uint64_t>& bits, std::int32_t id) {
  bits[as_size(id / 64)] |= std::uint64_t{1} << id % 64;
}

}  // namespace tril::search
