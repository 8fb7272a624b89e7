// The steps of a grammar against their direction: for each state, those that lead into it.
#pragma once

#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "base/as_size.h"
#include "base/element.h"
#include "grammar/automata/grammar.h"

namespace tril::search {

/// A step into a state, from a state whose continuations depend on it.
struct Way {
  static constexpr std::int32_t byte = -1, nothing = -2;
  std::int32_t from;
  std::int32_t
      other;  ///< of a call: the other state on which its continuations depend; otherwise what the step consumes
};

/// All of them in one list, in which those into a state are next to each other.
class Ways {
 public:
  explicit Ways(const Grammar& grammar) : begin_(grammar.states() + 1) {
    for_each(grammar, [&](std::int32_t to, const Way&) { ++element(begin_, to); });
    std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
    ways_.resize(begin_.back());
    for_each(grammar, [&](std::int32_t to, const Way& way) { ways_[--element(begin_, to)] = way; });
  }
  std::span<const Way> into(std::int32_t to) const {
    const std::size_t begin = element(begin_, to);
    return std::span(ways_).subspan(begin, element(begin_, std::int64_t{to} + 1) - begin);
  }

 private:
  template <class Use>
  static void for_each(const Grammar& grammar, const Use& use) {
    for (std::int32_t from = 0; as_size(from) < grammar.states(); ++from) {
      const Grammar::State& state = grammar.state(from);
      std::int32_t last = -1;  // several ranges of bytes often lead to one state
      for (const Grammar::Edge& e : state.edges)
        if (std::exchange(last, e.to) != e.to) use(e.to, Way{from, Way::byte});
      for (const std::int32_t to : state.jumps) use(to, Way{from, Way::nothing});
      for (const Grammar::Call& c : state.calls) {
        const std::int32_t start = grammar.rule(c.rule).start;
        use(c.to, Way{from, start});
        use(start, Way{from, c.to});
      }
    }
  }

  std::vector<std::size_t> begin_;  // of the ways into each state; at last their number
  std::vector<Way> ways_;
};

}  // namespace tril::search
