// Indices are signed in tril, those of the standard library are not. The conversion is here.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <iterator>

namespace tril {

/// The element of a vector, span or array at a signed index, which must be within it.
template <class List>
constexpr decltype(auto) element(List&& list, std::int64_t i) {
  assert(i >= 0 && i < std::ssize(list));
  return list[static_cast<std::size_t>(i)];
}

}  // namespace tril
