// Random draws for the makers of demo text.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "base/rng.h"

namespace tril::train {

inline int draw_between(RandomSequence& random, int least, int most) {
  return least + static_cast<int>(random.below(static_cast<std::uint64_t>(most - least) + 1));
}
inline bool draw_one_in(RandomSequence& random, std::uint64_t n) {
  return random.below(n) == 0;
}
template <class List>
const auto& draw_of(RandomSequence& random, const List& list) {
  return list[random.below(list.size())];
}
/// `count` distinct numbers below n, in the order drawn.
inline std::vector<std::size_t> draw_distinct(RandomSequence& random, std::size_t n, std::size_t count) {
  std::vector<std::size_t> all(n);
  for (std::size_t i = 0; i < n; ++i) all[i] = i;
  for (std::size_t i = 0; i < count; ++i) std::swap(all[i], all[i + random.below(n - i)]);
  all.resize(count);
  return all;
}

}  // namespace tril::train
