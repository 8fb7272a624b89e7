// Access to elements by signed index: the conversion of as_size.h, and a check of the upper bound in debug builds.
#pragma once

#include <cassert>
#include <cstdint>
#include <iterator>

#include "base/as_size.h"

namespace tril {

/// The element of a vector, span or array at a signed index, which must be within it.
template <class List>
constexpr decltype(auto) element(List&& list, std::int64_t i) {
  assert(i < std::ssize(list));
  return list[as_size(i)];
}

}  // namespace tril
