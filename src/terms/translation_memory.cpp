#include "terms/translation_memory.h"

#include <algorithm>
#include <span>

#include "base/as_size.h"
#include "base/error.h"
#include "base/hash.h"
#include "terms/similarity.h"
#include "terms/units.h"
#include "unicode/trim.h"

namespace tril::terms {
namespace {

constexpr std::int32_t unknown_unit = -1;

// Calls f with the exact form of each unit but white space.
template <class F>
void for_each_unit(std::string_view text, const F& f) {
  for (const Unit& unit : units_of(text))
    if (!unit.space) f(exact_form(text.substr(unit.begin, unit.end - unit.begin)));
}

// The least number of units that a text of `n` units shares with one that is similar enough.
std::size_t least_shared(std::size_t n) {
  return (n * TranslationMemory::threshold + 99) / 100;
}

// The most edits that leave the longer text of `n` units similar enough.
std::int32_t most_edits(std::size_t n) {
  return static_cast<std::int32_t>(n * (100 - TranslationMemory::threshold) / 100);
}

}  // namespace

const std::vector<std::pair<std::string, MemoryUse>>& memory_use_names() {
  static const std::vector<std::pair<std::string, MemoryUse>> names{{"exact", MemoryUse::exact},
                                                                    {"tell", MemoryUse::tell}};
  return names;
}

TranslationMemory::TranslationMemory() = default;

void TranslationMemory::add(std::string_view source, std::string_view target) {
  source = trim(source), target = trim(target);
  if (source.empty() || target.empty()) return;
  check(pairs_.size() < most_pairs, "memory", "has more than {} pairs", most_pairs);
  check(texts_.size() + source.size() + target.size() < most_bytes, "memory", "has more than {} bytes of text",
        most_bytes);
  const std::string exact = exact_text(source);
  const auto [at, is_new] = by_text_.emplace(hash_of(exact), static_cast<std::uint32_t>(pairs_.size()));
  if (!is_new && exact_text(source_of(pairs_[at->second])) == exact) {
    Pair& old = pairs_[at->second];
    if (target_of(old) == target) return;
    ++replaced_;
    old.text = texts_.size(), old.target = static_cast<std::uint32_t>(target.size());
    old.source = static_cast<std::uint32_t>(source.size());
    texts_ += source;
    texts_ += target;
    return;
  }
  at->second = static_cast<std::uint32_t>(pairs_.size());
  Pair pair{texts_.size(), static_cast<std::uint32_t>(source.size()), static_cast<std::uint32_t>(target.size()),
            static_cast<std::uint32_t>(units_.size()), 0};
  texts_ += source;
  texts_ += target;
  for_each_unit(source, [&](std::string&& unit) {
    const auto number = numbers_.emplace(std::move(unit), static_cast<std::int32_t>(frequencies_.size())).first->second;
    if (as_size(number) == frequencies_.size()) frequencies_.push_back(0);
    ++frequencies_[as_size(number)];
    units_.push_back(number);
  });
  pair.count = static_cast<std::uint32_t>(units_.size() - pair.units);
  pairs_.push_back(pair);
}

// The rarest units first, in an order that all texts share.
void TranslationMemory::rank(std::vector<std::int32_t>& units) const {
  const auto frequency = [&](std::int32_t unit) { return unit == unknown_unit ? 0 : frequencies_[as_size(unit)]; };
  std::sort(units.begin(), units.end(), [&](std::int32_t a, std::int32_t b) {
    return frequency(a) != frequency(b) ? frequency(a) < frequency(b) : a < b;
  });
}

void TranslationMemory::finish() {
  texts_.shrink_to_fit(), pairs_.shrink_to_fit(), units_.shrink_to_fit();
  std::vector<std::uint32_t> order(pairs_.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::uint32_t>(i);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return pairs_[a].count < pairs_[b].count; });
  const auto rarest = [&](std::uint32_t p) {
    const Pair& pair = pairs_[p];
    const auto begin = units_.begin() + pair.units;
    std::vector<std::int32_t> units(begin, begin + pair.count);
    rank(units);
    units.resize(pair.count - least_shared(pair.count) + 1);
    units.erase(std::unique(units.begin(), units.end()), units.end());
    return units;
  };
  lists_.assign(frequencies_.size() + 1, 0);
  for (const std::uint32_t p : order)
    if (pairs_[p].count > 0)
      for (const std::int32_t unit : rarest(p)) ++lists_[as_size(unit) + 1];
  for (std::size_t i = 1; i < lists_.size(); ++i) lists_[i] += lists_[i - 1];
  listed_.resize(lists_.empty() ? 0 : lists_.back());
  std::vector<std::uint64_t> next(lists_.begin(), lists_.end());
  for (const std::uint32_t p : order)
    if (pairs_[p].count > 0)
      for (const std::int32_t unit : rarest(p)) listed_[next[as_size(unit)]++] = p;
}

std::vector<std::int32_t> TranslationMemory::known_units(std::string_view text) const {
  std::vector<std::int32_t> units;
  for_each_unit(text, [&](const std::string& unit) {
    const auto found = numbers_.find(std::string_view(unit));
    units.push_back(found == numbers_.end() ? unknown_unit : found->second);
  });
  return units;
}

std::optional<std::size_t> TranslationMemory::exact_pair(std::string_view text) const {
  const std::string exact = exact_text(text);
  const auto found = by_text_.find(hash_of(exact));
  if (exact.empty() || found == by_text_.end() || exact_text(source_of(pairs_[found->second])) != exact)
    return std::nullopt;
  return found->second;
}

std::optional<std::string> TranslationMemory::exact(std::string_view text) const {
  const std::optional<std::size_t> pair = exact_pair(text);
  if (!pair) return std::nullopt;
  return std::string(target_of(pairs_[*pair]));
}

std::vector<MemoryHit> TranslationMemory::find(std::string_view text) const {
  std::vector<MemoryHit> hits;
  const auto hit = [&](std::size_t p, std::int32_t score) {
    hits.push_back({std::string(source_of(pairs_[p])), std::string(target_of(pairs_[p])), score});
  };
  const std::optional<std::size_t> same = exact_pair(text);
  if (same) hit(*same, 100);
  const std::vector<std::int32_t> units = known_units(text);
  const std::size_t n = units.size();
  if (n == 0) return hits;

  std::vector<std::int32_t> ranked = units;
  rank(ranked);
  ranked.resize(n - least_shared(n) + 1);
  ranked.erase(std::unique(ranked.begin(), ranked.end()), ranked.end());
  const std::size_t shortest = least_shared(n), longest = n * 100 / threshold;
  std::vector<std::uint32_t> candidates;
  for (const std::int32_t unit : ranked) {
    if (unit == unknown_unit) continue;
    const auto begin = listed_.begin() + static_cast<std::ptrdiff_t>(lists_[as_size(unit)]),
               end = listed_.begin() + static_cast<std::ptrdiff_t>(lists_[as_size(unit) + 1]);
    const auto first = std::partition_point(begin, end, [&](std::uint32_t p) { return pairs_[p].count < shortest; });
    const auto last = std::partition_point(first, end, [&](std::uint32_t p) { return pairs_[p].count <= longest; });
    candidates.insert(candidates.end(), first, last);
  }
  std::sort(candidates.begin(), candidates.end());
  candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());

  struct Scored {
    std::int32_t score;
    std::uint32_t pair;
  };
  std::vector<Scored> best;
  const auto is_better = [](const Scored& a, const Scored& b) {
    return a.score != b.score ? a.score > b.score : a.pair < b.pair;
  };
  for (const std::uint32_t p : candidates) {
    if (same && p == *same) continue;
    const Pair& pair = pairs_[p];
    const std::size_t most = std::max<std::size_t>(n, pair.count);
    const std::int32_t limit = most_edits(most);
    const std::int32_t edits = edit_distance(units, std::span(units_).subspan(pair.units, pair.count), limit);
    if (edits > limit) continue;
    best.push_back({std::min(99, percent_similar(edits, static_cast<std::int32_t>(most))), p});
    std::sort(best.begin(), best.end(), is_better);
    if (best.size() > most_hits) best.pop_back();
  }
  for (const Scored& one : best)
    if (hits.size() < most_hits) hit(one.pair, one.score);
  return hits;
}

std::size_t TranslationMemory::bytes() const {
  constexpr std::size_t map_entry = 48;  // a node of std::unordered_map with its share of the table
  return texts_.capacity() + pairs_.capacity() * sizeof(Pair) + units_.capacity() * 4 +
         frequencies_.capacity() * (4 + map_entry + 32) + by_text_.size() * map_entry + lists_.capacity() * 8 +
         listed_.capacity() * 4;
}

}  // namespace tril::terms
