// An entry of a sorted list, by its name.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

namespace tril {

/// @param list  sorted by the member `name`, no name twice
/// @return null if there is none
template <class T>
const T* find_named(const std::vector<T>& list, std::string_view name) {
  const auto found = std::lower_bound(list.begin(), list.end(), name,
                                      [](const T& entry, std::string_view wanted) { return entry.name < wanted; });
  return found != list.end() && found->name == name ? &*found : nullptr;
}

}  // namespace tril
