// Lists that are sorted by name: making one, and finding an entry.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

namespace tril {

/// Sorts `list` by the member `name`. Returns an entry whose name occurs twice, or null.
template <class T>
const T* sort_by_name(std::vector<T>& list) {
  std::sort(list.begin(), list.end(), [](const T& a, const T& b) { return a.name < b.name; });
  const auto twice =
      std::adjacent_find(list.begin(), list.end(), [](const T& a, const T& b) { return a.name == b.name; });
  return twice == list.end() ? nullptr : &*twice;
}

/// @param list  sorted by the member `name`, no name twice
/// @return null if there is none
template <class T>
const T* find_named(const std::vector<T>& list, std::string_view name) {
  const auto found = std::lower_bound(list.begin(), list.end(), name,
                                      [](const T& entry, std::string_view wanted) { return entry.name < wanted; });
  return found != list.end() && found->name == name ? &*found : nullptr;
}

}  // namespace tril
