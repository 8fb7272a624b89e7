#include "grammar/automata/byte_automaton.h"

#include <algorithm>
#include <array>
#include <bit>
#include <bitset>
#include <unordered_set>

#include "base/as_size.h"

namespace tril::search {
namespace {

// A few rules may describe texts of more bytes than fit into an integer.
std::int64_t sum(std::int64_t a, std::int64_t b) {
  return std::min(Grammar::never - 1, a + b);
}

}  // namespace

std::size_t ByteAutomaton::ItemHash::operator()(const Item& item) const {
  const auto both = static_cast<std::uint64_t>(static_cast<std::uint32_t>(item.at)) << 32 |
                    static_cast<std::uint64_t>(static_cast<std::uint32_t>(item.stack));
  return static_cast<std::size_t>((both ^ both >> 29) * 0xbf58476d1ce4e5b9ull);
}

ByteAutomaton::ByteAutomaton(Grammar grammar) : ByteAutomaton(std::move(grammar), {}) {}

ByteAutomaton::ByteAutomaton(Grammar grammar, std::vector<std::int64_t> distances)
    : grammar_(std::move(grammar)), classes_(grammar_.byte_classes()), distance_(std::move(distances)) {
  if (distance_.empty()) distance_ = grammar_.distances();
  for (std::int32_t at = 0; as_size(at) < grammar_.states(); ++at) {
    const Grammar::State& place = grammar_.state(at);
    is_leaf_.push_back(distance(at) < Grammar::never && !place.ends_rule && place.jumps.empty() &&
                       place.calls.empty() && !place.edges.empty());
  }
  std::bitset<256> seen;
  for (std::size_t byte = 0; byte < 256; ++byte) {
    if (seen[classes_.of[byte]]) continue;
    seen.set(classes_.of[byte]);
    lowest_bytes_.push_back(static_cast<unsigned char>(byte));
  }
  forget();
}

void ByteAutomaton::forget() {
  states_.clear(), next_.clear(), numbers_.clear(), stacks_.clear(), stack_numbers_.clear(), items_.clear();
  numbers_.assign(1024, unknown);
  states_.push_back({0, 0, 0, false, Grammar::never});  // the dead state
  next_.assign(classes_.count, dead);
  start_ = closure(std::array{Item{grammar_.rule(0).start, -1}});
}

std::int32_t ByteAutomaton::next(std::int32_t state, std::string_view bytes) {
  for (const char byte : bytes) {
    if (state == dead) return dead;
    state = next(state, static_cast<unsigned char>(byte));
  }
  return state;
}

std::int32_t ByteAutomaton::renamed(const ByteAutomaton& other, std::int32_t state,
                                    std::span<const std::int32_t> place_of, std::vector<std::int32_t>& stacks) {
  if (state == dead) return dead;
  while (stacks.size() < other.stacks_.size()) {
    const Stack& stack = other.stacks_[stacks.size()];
    stacks.push_back(pushed(element(place_of, stack.at), stack.below < 0 ? -1 : element(stacks, stack.below)));
  }
  const State& theirs = element(other.states_, state);
  closed_.clear();
  for (const Item& item : other.items(theirs))
    closed_.push_back({element(place_of, item.at), item.stack < 0 ? -1 : element(stacks, item.stack)});
  std::sort(closed_.begin(), closed_.end());
  closed_.erase(std::unique(closed_.begin(), closed_.end()), closed_.end());
  return number_of(closed_, theirs.complete);
}

std::int32_t ByteAutomaton::pushed(std::int32_t at, std::int32_t below) {
  const auto [found, fresh] = stack_numbers_.try_emplace({at, below}, static_cast<std::int32_t>(stacks_.size()));
  if (fresh) stacks_.push_back({at, below, sum(distance(at), below < 0 ? 0 : element(stacks_, below).bytes_left)});
  return found->second;
}

// The state of everything reachable without a byte; places without outgoing edges are left out.
std::int32_t ByteAutomaton::closure(std::span<const Item> reached) {
  bool complete = false;
  closed_.clear(), few_.clear();
  pending_.assign(reached.begin(), reached.end());
  std::unordered_set<Item, ItemHash> many;  // those seen, once a search of a list would cost more
  const auto fresh = [&](const Item& item) {
    if (!many.empty()) return many.insert(item).second;
    if (std::find(few_.begin(), few_.end(), item) != few_.end()) return false;
    few_.push_back(item);
    if (few_.size() == 32) many.insert(few_.begin(), few_.end());
    return true;
  };
  while (!pending_.empty()) {
    const Item item = pending_.back();
    pending_.pop_back();
    if (element(is_leaf_, item.at)) {
      closed_.push_back(item);
      continue;
    }
    if (distance(item.at) >= Grammar::never || !fresh(item)) continue;
    const Grammar::State& place = grammar_.state(item.at);
    if (place.ends_rule) {
      if (item.stack < 0) {
        complete = true;
      } else {
        const Stack& top = element(stacks_, item.stack);
        pending_.push_back({top.at, top.below});
      }
    }
    for (const std::int32_t to : place.jumps) pending_.push_back({to, item.stack});
    for (const Grammar::Call& call : place.calls)
      if (distance(call.to) < Grammar::never && distance(grammar_.rule(call.rule).start) < Grammar::never)
        pending_.push_back({grammar_.rule(call.rule).start, pushed(call.to, item.stack)});
    if (!place.edges.empty()) closed_.push_back(item);
  }
  std::sort(closed_.begin(), closed_.end());
  closed_.erase(std::unique(closed_.begin(), closed_.end()), closed_.end());
  return number_of(closed_, complete);
}

std::int32_t ByteAutomaton::number_of(std::span<const Item> items, bool complete) {
  if (items.empty() && !complete) return dead;
  std::uint64_t hash = complete ? 1 : 0;
  for (const Item& item : items) hash = (hash ^ hash >> 31 ^ ItemHash()(item)) * 0x94d049bb133111ebull;
  hash ^= hash >> 32;
  std::size_t slot = hash & (numbers_.size() - 1);
  for (; numbers_[slot] != unknown; slot = (slot + 1) & (numbers_.size() - 1)) {
    const State& other = element(states_, numbers_[slot]);
    if (other.hash == hash && other.complete == complete && std::ranges::equal(this->items(other), items))
      return numbers_[slot];
  }
  std::int64_t left = complete ? 0 : Grammar::never;
  for (const Item& item : items)
    left = std::min(left, sum(distance(item.at), item.stack < 0 ? 0 : element(stacks_, item.stack).bytes_left));
  const auto number = static_cast<std::int32_t>(states_.size());
  states_.push_back({items_.size(), items.size(), hash, complete, left});
  items_.insert(items_.end(), items.begin(), items.end());
  next_.resize(next_.size() + classes_.count, unknown);
  numbers_[slot] = number;
  if (2 * states_.size() > numbers_.size()) make_room();
  return number;
}

void ByteAutomaton::make_room() {
  numbers_.assign(2 * numbers_.size(), unknown);
  for (std::size_t n = 1; n < states_.size(); ++n) {  // the dead state has no slot
    std::size_t slot = states_[n].hash & (numbers_.size() - 1);
    while (numbers_[slot] != unknown) slot = (slot + 1) & (numbers_.size() - 1);
    numbers_[slot] = static_cast<std::int32_t>(n);
  }
}

// Sets the first of ranges_ to those of the state's bytes, and returns their number.
std::size_t ByteAutomaton::find_ranges(std::int32_t state) {
  const std::span<const Item> items = this->items(element(states_, state));
  std::array<std::uint64_t, 5> ends{};        // as bits: where an edge begins or has ended
  std::array<std::uint16_t, 257> range_at{};  // by where it begins
  for (const Item& item : items)
    for (const Grammar::Edge& e : grammar_.state(item.at).edges)
      for (const std::size_t end : {std::size_t{e.least}, e.most + std::size_t{1}})
        ends[end / 64] |= std::uint64_t{1} << end % 64;
  std::size_t count = 0;
  for (std::size_t word = 0; word < ends.size(); ++word)
    for (std::uint64_t bits = ends[word]; bits != 0; bits &= bits - 1) {
      const std::size_t begin = 64 * word + as_size(std::countr_zero(bits));
      if (ranges_.size() == count) ranges_.emplace_back();
      ranges_[count].begin = begin, ranges_[count].reached.clear();
      range_at[begin] = static_cast<std::uint16_t>(count++);
    }
  for (const Item& item : items)
    for (const Grammar::Edge& e : grammar_.state(item.at).edges)
      for (std::size_t r = range_at[e.least]; ranges_[r].begin <= e.most; ++r)
        ranges_[r].reached.push_back({e.to, item.stack});
  return count;
}

// All bytes at once, since those that lead to the same places then share the work.
void ByteAutomaton::fill_row(std::int32_t state) {
  const std::size_t row = as_size(state) * classes_.count;
  std::fill_n(next_.begin() + static_cast<std::ptrdiff_t>(row), classes_.count, dead);
  const std::size_t ranges = find_ranges(state);
  for (std::size_t r = 0; r + 1 < ranges; ++r) {
    const std::vector<Item>& reached = ranges_[r].reached;
    const auto same = std::find_if(ranges_.begin(), ranges_.begin() + static_cast<std::ptrdiff_t>(r),
                                   [&](const Range& other) { return other.reached == reached; });
    ranges_[r].to = &*same != &ranges_[r] ? same->to : reached.empty() ? dead : closure(reached);
    for (std::size_t c = classes_.of[ranges_[r].begin]; c <= classes_.of[ranges_[r + 1].begin - 1]; ++c)
      next_[row + c] = ranges_[r].to;
  }
}

}  // namespace tril::search
