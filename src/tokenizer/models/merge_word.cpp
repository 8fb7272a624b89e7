#include "tokenizer/models/merge_word.h"

#include <algorithm>

#include "base/element.h"

namespace tril {
namespace {

using Symbol = EncodeScratch::Symbol;
using Pair = EncodeScratch::Merge;

constexpr std::size_t short_word = 48;

// Scans all pairs before each merge: n^2 cheap steps.
void merge_short(const MergeTable& table, EncodeScratch& scratch) {
  std::vector<std::int32_t>& ids = scratch.ids;
  std::vector<Pair>& pairs = scratch.merges;  // pairs[i] begins at ids[i]
  const auto pair_at = [&](std::size_t i) {
    const MergeTable::Merge m = table.find(ids[i], ids[i + 1]);
    return Pair{m.rank, 0, m.id, 0, 0};
  };
  pairs.clear();
  for (std::size_t i = 0; i + 1 < ids.size(); ++i) pairs.push_back(pair_at(i));
  while (true) {
    std::size_t best = pairs.size();
    for (std::size_t i = 0; i < pairs.size(); ++i)
      if (pairs[i].rank >= 0 && (best == pairs.size() || pairs[i].rank < pairs[best].rank)) best = i;
    if (best == pairs.size()) return;
    ids[best] = pairs[best].id;
    ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(best) + 1);
    pairs.erase(pairs.begin() + static_cast<std::ptrdiff_t>(best));
    if (best > 0) pairs[best - 1] = pair_at(best - 1);
    if (best < pairs.size()) pairs[best] = pair_at(best);
  }
}

// A queue holds every pair that may merge; stale entries are skipped. A word of n symbols takes O(n log n).
void merge_long(const MergeTable& table, EncodeScratch& scratch) {
  std::vector<Symbol>& symbols = scratch.symbols;
  std::vector<Pair>& queue = scratch.merges;
  constexpr std::int32_t gone = -2;
  const auto later = [](const Pair& a, const Pair& b) { return a.rank != b.rank ? a.rank > b.rank : a.left > b.left; };
  const auto at = [&](std::int32_t i) -> Symbol& { return element(symbols, i); };
  const auto offer = [&](std::int32_t left) {
    if (left < 0 || at(left).after < 0) return;
    const std::int32_t a = at(left).id, b = at(at(left).after).id;
    const MergeTable::Merge m = table.find(a, b);
    if (m.rank < 0) return;
    queue.push_back({m.rank, left, m.id, a, b});
    std::push_heap(queue.begin(), queue.end(), later);
  };

  const auto n = static_cast<std::int32_t>(scratch.ids.size());
  symbols.clear();
  queue.clear();
  for (std::int32_t i = 0; i < n; ++i) symbols.push_back({element(scratch.ids, i), i - 1, i + 1 < n ? i + 1 : -1});
  for (std::int32_t i = 0; i + 1 < n; ++i) offer(i);
  while (!queue.empty()) {
    std::pop_heap(queue.begin(), queue.end(), later);
    const Pair p = queue.back();
    queue.pop_back();
    if (at(p.left).id != p.left_id || at(p.left).after < 0) continue;
    const std::int32_t right = at(p.left).after;
    if (at(right).id != p.right_id) continue;
    at(p.left).id = p.id;
    at(p.left).after = at(right).after;
    if (at(right).after >= 0) at(at(right).after).before = p.left;
    at(right).id = gone;
    offer(at(p.left).before);
    offer(p.left);
  }
  scratch.ids.clear();
  for (std::int32_t i = 0; i >= 0 && i < n; i = at(i).after) scratch.ids.push_back(at(i).id);
}

}  // namespace

void merge_word(const MergeTable& table, EncodeScratch& scratch, std::vector<std::int32_t>& ids) {
  if (scratch.ids.size() <= short_word)
    merge_short(table, scratch);
  else
    merge_long(table, scratch);
  for (std::int32_t id : scratch.ids)
    if (id >= 0) ids.push_back(id);
}

}  // namespace tril
