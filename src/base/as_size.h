// The boundary between tril's numbers, which are signed, and the sizes of the standard library, which are not.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>

namespace tril {

/// n >= 0 as an index of a container or a size. The other direction is std::ssize().
constexpr std::size_t as_size(std::int64_t n) {
  assert(n >= 0);
  return static_cast<std::size_t>(n);
}

}  // namespace tril
