#include "grammar/expressions/pattern_complement.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/element.h"
#include "grammar/expressions/unsupported.h"

namespace tril::search {
namespace {

constexpr std::size_t most_sets = 5'000;
constexpr std::size_t most_work = 5'000'000;  // states in sets, and ranges of their edges

using Set = std::vector<std::int32_t>;

class Sets {
 public:
  explicit Sets(const Pattern& pattern) : pattern_(pattern), seen_(pattern.states().size(), 0) {}

  // Everything reachable by jumps.
  Set closure(Set pending) {
    Set set;
    ++round_;
    while (!pending.empty()) {
      const std::int32_t s = pending.back();
      pending.pop_back();
      if (std::exchange(element(seen_, s), round_) == round_) continue;
      set.push_back(s);
      const std::vector<std::int32_t>& jumps = state(s).jumps;
      pending.insert(pending.end(), jumps.begin(), jumps.end());
    }
    std::sort(set.begin(), set.end());
    count(set.size());
    return set;
  }

  /// The ranges of characters that lead from all of `set` to the same states, with those states.
  std::vector<std::pair<CharRange, Set>> ways(const Set& set) {
    std::vector<char32_t> begins;
    for (const std::int32_t s : set)
      for (const Pattern::Edge& e : state(s).edges)
        for (const CharRange& r : e.on) begins.push_back(r.least), begins.push_back(r.most + 1);
    std::sort(begins.begin(), begins.end());
    begins.erase(std::unique(begins.begin(), begins.end()), begins.end());
    std::vector<std::pair<CharRange, Set>> list;
    for (std::size_t i = 0; i + 1 < begins.size(); ++i) list.push_back({{begins[i], begins[i + 1] - 1}, {}});
    for (const std::int32_t s : set)
      for (const Pattern::Edge& e : state(s).edges)
        for (const CharRange& r : e.on) {
          const auto first = std::lower_bound(begins.begin(), begins.end(), r.least) - begins.begin();
          for (auto i = static_cast<std::size_t>(first); i < list.size() && list[i].first.most <= r.most; ++i)
            list[i].second.push_back(e.to);
        }
    for (auto& [range, to] : list) {
      std::sort(to.begin(), to.end());
      to.erase(std::unique(to.begin(), to.end()), to.end());
      count(to.size() + 1);
    }
    return list;
  }

 private:
  const Pattern::State& state(std::int32_t s) const { return element(pattern_.states(), s); }
  void count(std::size_t more) {
    work_ += more;
    if (work_ > most_work) throw Unsupported("regular expression", "its complement takes too much work");
  }

  const Pattern& pattern_;
  std::vector<std::int32_t> seen_;
  std::int32_t round_ = 0;
  std::size_t work_ = 0;
};

}  // namespace

Pattern complement(const Pattern& pattern) {
  Sets sets(pattern);
  Pattern p;
  const std::int32_t free = p.add_state();  // where the pattern can no longer match
  p.add_edge(free, all_chars(), free);
  p.add_jump(free, p.end());
  std::map<Set, std::int32_t> known;
  std::vector<std::map<Set, std::int32_t>::const_iterator> pending;
  const auto reach = [&](Set set) {
    if (set.empty()) return free;
    const auto [at, fresh] = known.try_emplace(std::move(set), 0);
    if (fresh) {
      if (known.size() > most_sets)
        throw Unsupported("regular expression", fmt::format("its complement needs more than {} states", most_sets));
      at->second = p.add_state();
      pending.push_back(at);
    }
    return at->second;
  };
  p.add_jump(p.start(), reach(sets.closure({pattern.start()})));
  while (!pending.empty()) {
    const auto& [set, from] = *pending.back();
    pending.pop_back();
    if (!std::binary_search(set.begin(), set.end(), pattern.end())) p.add_jump(from, p.end());
    std::map<std::int32_t, CharSet> by_target;
    CharSet taken;
    for (const auto& [range, to] : sets.ways(set)) {
      if (to.empty()) continue;
      by_target[reach(sets.closure(to))].push_back(range);
      taken.push_back(range);
    }
    const CharSet rest = complement(normalized(taken));
    by_target[free].insert(by_target[free].end(), rest.begin(), rest.end());
    for (auto& [to, on] : by_target) p.add_edge(from, intersection(normalized(std::move(on)), all_chars()), to);
  }
  return p.trimmed();
}

}  // namespace tril::search
