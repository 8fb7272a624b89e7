#include "grammar/automata/near_grammar.h"

#include <array>
#include <bit>
#include <unordered_map>
#include <utility>

#include "base/as_size.h"
#include "base/element.h"
#include "grammar/automata/ways.h"

namespace tril::search {
namespace {

// The bits of a number, spread over all of a word [Steele, Lea & Flood 2014].
std::uint64_t spread(std::uint64_t n) {
  n = (n ^ n >> 30) * 0xbf58476d1ce4e5b9ull;
  n = (n ^ n >> 27) * 0x94d049bb133111ebull;
  return n ^ n >> 31;
}

// The sets of places that are alike, for more bytes from step to step.
class Refinement {
 public:
  Refinement(const Grammar& grammar, const std::vector<std::int64_t>& distance)
      : grammar_(&grammar),
        distance_(&distance),
        ways_(grammar),
        set_of_(grammar.states(), -1),
        is_marked_(grammar.states(), 0) {
    std::array<std::int32_t, 130> sets{};  // by what tells states apart at once, and from 1 up; 0: no state
    for (std::int32_t s = 0; as_size(s) < grammar.states(); ++s) {
      const std::int64_t d = element(distance, s);
      if (d >= Grammar::never) continue;
      // Of the distances in a set none is twice another one or more.
      const int bits = std::bit_width(static_cast<std::uint64_t>(d));
      std::int32_t& set = element(sets, 2 * bits + (grammar.state(s).ends_rule ? 1 : 0));
      if (set == 0) {
        sizes_.push_back(0), steps_of_.push_back(0);
        set = static_cast<std::int32_t>(sizes_.size());
      }
      element(set_of_, s) = set - 1;
      ++element(sizes_, set - 1);
      mark(s, now_, in_now);
    }
  }

  /// One byte more. False if there is no more to split.
  bool refine() {
    while (!now_.empty()) split_marked();
    std::swap(now_, next_);
    for (const std::int32_t s : now_) element(is_marked_, s) = in_now;
    return !now_.empty();
  }

  const std::vector<std::int32_t>& set_of() const { return set_of_; }
  const std::vector<std::int32_t>& sizes() const { return sizes_; }

 private:
  static constexpr std::uint8_t in_now = 1, in_next = 2;
  // States of a set whose steps changed, all to the same.
  struct Part {
    std::int32_t set;
    std::uint64_t steps;
    std::int32_t size = 0, new_set = -1;
  };

  std::int32_t set(std::int32_t state) const { return element(set_of_, state); }

  void mark(std::int32_t state, std::vector<std::int32_t>& list, std::uint8_t as) {
    std::uint8_t& marks = element(is_marked_, state);
    if (set(state) < 0 || (marks & as) != 0) return;
    marks |= as;
    list.push_back(state);
  }

  // Of a state's steps, and the sets that they lead to.
  std::uint64_t steps(std::int32_t state) const {
    const Grammar::State& s = grammar_->state(state);
    std::uint64_t all = 1;
    const auto add = [&](std::uint64_t step, std::int32_t to) {
      if (set(to) >= 0) all += spread(spread(step) + static_cast<std::uint64_t>(set(to)));
    };
    for (const Grammar::Edge& e : s.edges) add(std::uint64_t{1} << 40 | e.least << 8u | e.most, e.to);
    for (const std::int32_t to : s.jumps) add(std::uint64_t{2} << 40, to);
    for (const Grammar::Call& c : s.calls)
      if (set(grammar_->rule(c.rule).start) >= 0)
        add(std::uint64_t{3} << 40 | static_cast<std::uint32_t>(c.rule), c.to);
    return all;
  }

  // States whose steps changed leave their set: those of equal steps become one.
  void split_marked() {
    std::vector<std::pair<std::int32_t, std::size_t>> changed;  // states and their parts
    std::vector<Part> parts;
    std::unordered_map<std::uint64_t, std::size_t> part_of;
    for (const std::int32_t s : std::exchange(now_, {})) {
      element(is_marked_, s) &= in_next;
      const std::uint64_t found = steps(s);
      if (found == element(steps_of_, set(s))) continue;
      const auto [part, fresh] = part_of.try_emplace(spread(found) + static_cast<std::uint64_t>(set(s)), parts.size());
      if (fresh) parts.push_back({set(s), found});
      ++parts[part->second].size;
      changed.emplace_back(s, part->second);
    }
    make_sets(parts);
    for (const auto& [state, part] : changed) {
      if (parts[part].new_set == set(state)) continue;
      element(set_of_, state) = parts[part].new_set;
      for (const Way& way : ways_.into(state)) {
        const bool is_empty = way.other == Way::nothing || (way.other >= 0 && element(*distance_, way.other) == 0);
        is_empty ? mark(way.from, now_, in_now) : mark(way.from, next_, in_next);
      }
    }
  }

  // If all states of a set changed, its largest part keeps it.
  void make_sets(std::vector<Part>& parts) {
    struct Leaving {
      std::int32_t states = 0;
      Part* largest = nullptr;
    };
    std::unordered_map<std::int32_t, Leaving> leaving;  // by set
    for (Part& part : parts) {
      Leaving& all = leaving[part.set];
      all.states += part.size;
      if (!all.largest || part.size > all.largest->size) all.largest = &part;
    }
    for (const auto& [set, all] : leaving)
      if (all.states == element(sizes_, set)) all.largest->new_set = set;
    for (Part& part : parts) {
      if (part.new_set == part.set) {
        element(steps_of_, part.set) = part.steps;
        continue;
      }
      part.new_set = static_cast<std::int32_t>(sizes_.size());
      element(sizes_, part.set) -= part.size;
      sizes_.push_back(part.size), steps_of_.push_back(part.steps);
    }
  }

  const Grammar* grammar_;
  const std::vector<std::int64_t>* distance_;
  Ways ways_;
  std::vector<std::int32_t> set_of_;      // by state; -1: dead
  std::vector<std::int32_t> sizes_;       // by set
  std::vector<std::uint64_t> steps_of_;   // by set: steps() of its states
  std::vector<std::uint8_t> is_marked_;   // by state: the lists that have it
  std::vector<std::int32_t> now_, next_;  // states whose steps may have changed
};

NearGrammar grammar_of(const Refinement& sets, Grammar& whole) {
  const std::vector<std::int64_t>& distance = whole.distances();
  const std::vector<std::int32_t>& set_of = sets.set_of();
  // The steps of a set are those of the state that leads to the largest sets: far from what may tell states apart.
  std::vector<std::int32_t> chosen(sets.sizes().size(), -1);
  std::vector<std::int64_t> best(chosen.size(), -1);
  for (std::int32_t s = 0; as_size(s) < whole.states(); ++s) {
    const std::int32_t set = element(set_of, s);
    if (set < 0) continue;
    std::int64_t size = 0;
    const auto add = [&](std::int32_t to) {
      if (element(set_of, to) >= 0) size += element(sets.sizes(), element(set_of, to));
    };
    for (const Grammar::Edge& e : whole.state(s).edges) add(e.to);
    for (const std::int32_t to : whole.state(s).jumps) add(to);
    for (const Grammar::Call& c : whole.state(s).calls) add(c.to);
    if (size > element(best, set)) element(best, set) = size, element(chosen, set) = s;
  }
  // Dead rules have no place: all their starts and ends are one more.
  const auto none = static_cast<std::int32_t>(chosen.size());
  NearGrammar near{.grammar = {}, .place_of = set_of, .distances = {}};
  std::vector<Grammar::State> states;
  for (const std::int32_t s : chosen) {
    Grammar::State state = whole.state(s);
    std::erase_if(state.edges, [&](const Grammar::Edge& e) { return element(set_of, e.to) < 0; });
    std::erase_if(state.jumps, [&](std::int32_t to) { return element(set_of, to) < 0; });
    std::erase_if(state.calls, [&](const Grammar::Call& c) {
      return element(set_of, c.to) < 0 || element(set_of, whole.rule(c.rule).start) < 0;
    });
    for (Grammar::Edge& e : state.edges) e.to = element(set_of, e.to);
    for (std::int32_t& to : state.jumps) to = element(set_of, to);
    for (Grammar::Call& c : state.calls) c.to = element(set_of, c.to);
    states.push_back(std::move(state));
    near.distances.push_back(element(distance, s));
  }
  states.emplace_back();
  near.distances.push_back(Grammar::never);
  std::vector<Grammar::Rule> rules;
  for (std::int32_t r = 0; as_size(r) < whole.rules(); ++r) {
    const auto place = [&](std::int32_t s) { return element(set_of, s) < 0 ? none : element(set_of, s); };
    rules.push_back({place(whole.rule(r).start), place(whole.rule(r).end)});
  }
  near.grammar = Grammar(std::move(states), std::move(rules));
  return near;
}

}  // namespace

std::vector<NearGrammar> near_grammars(Grammar& whole, std::span<const std::int64_t> bytes) {
  std::vector<NearGrammar> all;
  Refinement sets(whole, whole.distances());
  std::int64_t n = 0;
  for (const std::int64_t wanted : bytes) {
    while (n < wanted && sets.refine()) ++n;
    all.push_back(grammar_of(sets, whole));
  }
  return all;
}

std::int32_t NearAutomaton::state(const ByteAutomaton& whole, std::int32_t state) {
  constexpr std::int32_t unknown = -1;
  if (state_of_.size() < whole.states()) state_of_.resize(whole.states(), unknown);
  std::int32_t& known = element(state_of_, state);
  if (known == unknown) known = bytes_.renamed(whole, state, place_of_, stack_of_);
  return known;
}

void NearAutomaton::forget() {
  bytes_.forget();
  state_of_.clear(), stack_of_.clear();
}

}  // namespace tril::search
