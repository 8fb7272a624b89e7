#include "grammar/automata/grammar.h"

#include <algorithm>
#include <queue>
#include <unordered_set>
#include <utility>

#include "base/element.h"
#include "base/error.h"
#include "grammar/automata/ways.h"

namespace tril::search {

std::int32_t Grammar::add_rule() {
  const std::int32_t start = add_state(), end = add_state();
  element(states_, end).ends_rule = true;
  rules_.push_back({start, end});
  return static_cast<std::int32_t>(rules_.size()) - 1;
}

std::int32_t Grammar::add_state() {
  check(states_.size() < most_states, "constraint", "needs more than {} states: its repetition bounds are too large",
        most_states);
  states_.emplace_back();
  distance_.clear();
  return static_cast<std::int32_t>(states_.size()) - 1;
}

void Grammar::add_edge(std::int32_t from, unsigned char least, unsigned char most, std::int32_t to) {
  distance_.clear();
  element(states_, from).edges.push_back({least, most, to});
}

void Grammar::add_call(std::int32_t from, std::int32_t rule, std::int32_t to) {
  distance_.clear();
  element(states_, from).calls.push_back({rule, to});
}

void Grammar::add_jump(std::int32_t from, std::int32_t to) {
  distance_.clear();
  element(states_, from).jumps.push_back(to);
}

std::int32_t Grammar::add_text(std::int32_t from, std::string_view text) {
  for (const char ch : text) {
    const std::int32_t next = add_state();
    const auto byte = static_cast<unsigned char>(ch);
    add_edge(from, byte, byte, next);
    from = next;
  }
  return from;
}

// Knuth's generalisation of Dijkstra's algorithm [1977]: a call costs the shortest text of its rule plus the distance
// from the state after it, so its cost is known once both are. Most steps cost at most one byte, so that states wait in
// lists for this distance and the next; only after longer calls they need a queue.
const std::vector<std::int64_t>& Grammar::distances() {
  if (!distance_.empty()) return distance_;
  const Ways ways(*this);
  distance_.assign(states_.size(), never);
  std::vector<std::int32_t> now, next;
  using Entry = std::pair<std::int64_t, std::int32_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> later;
  for (const Rule& r : rules_) now.push_back(r.end);
  for (std::int64_t d = 0; d < never;) {
    while (!now.empty()) {
      const std::int32_t s = now.back();
      now.pop_back();
      if (element(distance_, s) < never) continue;
      element(distance_, s) = d;
      for (const Way& w : ways.into(s)) {
        if (element(distance_, w.from) < never) continue;
        const std::int64_t cost = w.other == Way::byte ? 1 : w.other == Way::nothing ? 0 : element(distance_, w.other);
        if (cost == 0) now.push_back(w.from);
        if (cost == 1) next.push_back(w.from);
        if (cost > 1 && cost < never) later.emplace(d + cost, w.from);
      }
    }
    if (next.empty() && later.empty()) break;
    d = next.empty() ? later.top().first : d + 1;
    std::swap(now, next);
    for (; !later.empty() && later.top().first == d; later.pop()) now.push_back(later.top().second);
  }
  return distance_;
}

Grammar::ByteClasses Grammar::byte_classes() const {
  std::array<bool, 257> begins{};
  for (const State& s : states_)
    for (const Edge& e : s.edges) begins[e.least] = true, begins[e.most + std::size_t{1}] = true;
  ByteClasses classes;
  std::uint8_t number = 0;
  for (std::size_t byte = 0; byte < 256; ++byte) {
    if (byte > 0 && begins[byte]) ++number;
    classes.of[byte] = number;
  }
  classes.count = number + std::size_t{1};
  return classes;
}

// The rules that rule r may call before it consumes a byte.
std::vector<std::int32_t> Grammar::begun_by(std::int32_t r) {
  const std::vector<std::int64_t>& distance = distances();
  std::vector<std::int32_t> called, pending{rule(r).start};
  std::unordered_set<std::int32_t> seen{rule(r).start};
  while (!pending.empty()) {
    const State& s = state(pending.back());
    pending.pop_back();
    const auto reach = [&](std::int32_t to) {
      if (seen.insert(to).second) pending.push_back(to);
    };
    for (const std::int32_t to : s.jumps) reach(to);
    for (const Call& c : s.calls) {
      called.push_back(c.rule);
      if (element(distance, rule(c.rule).start) == 0) reach(c.to);
    }
  }
  std::sort(called.begin(), called.end());
  called.erase(std::unique(called.begin(), called.end()), called.end());
  return called;
}

// "Begins with" must be acyclic: rules that no remaining rule begins with are removed until none is left [Kahn 1962].
void Grammar::check_sound(const std::string& lacking) {
  if (rules_.empty() || element(distances(), rules_[0].start) == never)
    fail_usage("constraint", "it allows no text", lacking);
  std::vector<std::vector<std::int32_t>> begun;
  std::vector<std::int32_t> beginners(rules_.size(), 0), free;
  for (std::size_t r = 0; r < rules_.size(); ++r) {
    begun.push_back(begun_by(static_cast<std::int32_t>(r)));
    for (const std::int32_t other : begun.back()) ++element(beginners, other);
  }
  for (std::size_t r = 0; r < rules_.size(); ++r)
    if (beginners[r] == 0) free.push_back(static_cast<std::int32_t>(r));
  std::size_t ordered = 0;
  for (; !free.empty(); ++ordered) {
    const std::int32_t r = free.back();
    free.pop_back();
    for (const std::int32_t other : element(begun, r))
      if (--element(beginners, other) == 0) free.push_back(other);
  }
  check(ordered == rules_.size(), "constraint", "a part of it begins with itself endlessly");
}

}  // namespace tril::search
