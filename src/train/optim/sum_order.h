// The order in which the gradients of an update's batches are summed if the result must be bit-identical for any number
// of processes: a binary tree over the batches' numbers. Any range of consecutive batches consists of a few whole
// branches, so that each process sums its own branches, and their combination equals what a single process computes.
#pragma once

#include <bit>
#include <compare>
#include <cstddef>
#include <functional>
#include <vector>

namespace tril::train {

/// Batches [first, last).
struct Branch {
  std::size_t first = 0, last = 0;
  std::size_t size() const { return last - first; }
  friend auto operator<=>(const Branch&, const Branch&) = default;
};

/// Where a branch of two batches or more is split: after the largest power of two below its size.
inline std::size_t fork_of(Branch b) {
  return b.first + std::bit_floor(b.size() - 1);
}

/// The largest branches of the tree over `all` within `part`, in order; together they cover `part`.
inline void append_branches(Branch all, Branch part, std::vector<Branch>& list) {
  if (part.last <= all.first || all.last <= part.first) return;
  if (part.first <= all.first && all.last <= part.last) {
    list.push_back(all);
    return;
  }
  append_branches({all.first, fork_of(all)}, part, list);
  append_branches({fork_of(all), all.last}, part, list);
}

/// The batches of `count` that rank `rank` of `ranks` computes.
inline Branch share_of(std::size_t count, std::size_t rank, std::size_t ranks) {
  return {count * rank / ranks, count * (rank + 1) / ranks};
}

/// Sums the tree over `all`: `leaf(branch)` returns the sum of a whole branch if it is known, otherwise a false value,
/// and `join(a, b)` the sum of two neighbours.
template <class Leaf, class Join>
auto sum_in_order(Branch all, const Leaf& leaf, const Join& join) -> decltype(leaf(all)) {
  if (auto whole = leaf(all)) return whole;
  if (all.size() < 2) return {};
  auto left = sum_in_order({all.first, fork_of(all)}, leaf, join);
  auto right = sum_in_order({fork_of(all), all.last}, leaf, join);
  if (!left) return right;
  if (!right) return left;
  return join(std::move(left), std::move(right));
}

}  // namespace tril::train
