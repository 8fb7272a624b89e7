#include "grammar/automata/byte_automaton.h"

#include <algorithm>
#include <bitset>
#include <unordered_set>

#include "base/hash.h"

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

ByteAutomaton::ByteAutomaton(Grammar grammar)
    : grammar_(std::move(grammar)), classes_(grammar_.byte_classes()), distance_(grammar_.distances()) {
  std::bitset<256> seen;
  for (std::size_t byte = 0; byte < 256; ++byte) {
    if (seen[classes_.of[byte]]) continue;
    seen.set(classes_.of[byte]);
    lowest_bytes_.push_back(static_cast<unsigned char>(byte));
  }
  forget();
}

void ByteAutomaton::forget() {
  states_.clear(), next_.clear(), numbers_.clear(), stacks_.clear(), stack_numbers_.clear(), last_reached_.clear();
  states_.emplace_back();  // the dead state
  next_.assign(classes_.count, dead);
  start_ = number_of(closure({{grammar_.rule(0).start, -1}}));
}

std::int32_t ByteAutomaton::next(std::int32_t state, std::string_view bytes) {
  for (const char byte : bytes) {
    if (state == dead) return dead;
    state = next(state, static_cast<unsigned char>(byte));
  }
  return state;
}

std::int32_t ByteAutomaton::pushed(std::int32_t at, std::int32_t below) {
  const auto [found, fresh] = stack_numbers_.try_emplace({at, below}, static_cast<std::int32_t>(stacks_.size()));
  if (fresh) stacks_.push_back({at, below, sum(distance(at), below < 0 ? 0 : element(stacks_, below).bytes_left)});
  return found->second;
}

// Everything reachable without a byte; places without outgoing edges are left out.
ByteAutomaton::State ByteAutomaton::closure(std::vector<Item> pending) {
  State state;
  std::vector<Item> few;  // those seen, as long as a search is cheaper than a table
  std::unordered_set<Item, ItemHash> many;
  const auto fresh = [&](const Item& item) {
    if (!many.empty()) return many.insert(item).second;
    if (std::find(few.begin(), few.end(), item) != few.end()) return false;
    few.push_back(item);
    if (few.size() == 32) many.insert(few.begin(), few.end());
    return true;
  };
  while (!pending.empty()) {
    const Item item = pending.back();
    pending.pop_back();
    if (distance(item.at) >= Grammar::never || !fresh(item)) continue;
    const Grammar::State& place = grammar_.state(item.at);
    if (place.ends_rule) {
      if (item.stack < 0) {
        state.complete = true;
      } else {
        const Stack& top = element(stacks_, item.stack);
        pending.push_back({top.at, top.below});
      }
    }
    for (const std::int32_t to : place.jumps) pending.push_back({to, item.stack});
    for (const Grammar::Call& call : place.calls)
      if (distance(call.to) < Grammar::never && distance(grammar_.rule(call.rule).start) < Grammar::never)
        pending.push_back({grammar_.rule(call.rule).start, pushed(call.to, item.stack)});
    if (!place.edges.empty()) state.items.push_back(item);
  }
  std::sort(state.items.begin(), state.items.end());
  return state;
}

std::int32_t ByteAutomaton::number_of(State state) {
  if (state.items.empty() && !state.complete) return dead;
  Hash hash;
  hash.add(std::int64_t{state.complete});
  for (const Item& item : state.items) hash.add(static_cast<std::int64_t>(item.at) << 32 | (item.stack + 1));
  std::vector<std::int32_t>& same = numbers_[hash.value()];
  for (const std::int32_t n : same) {
    const State& other = element(states_, n);
    if (other.complete == state.complete && other.items == state.items) return n;
  }
  if (state.complete) state.bytes_left = 0;
  for (const Item& item : state.items)
    state.bytes_left = std::min(state.bytes_left,
                                sum(distance(item.at), item.stack < 0 ? 0 : element(stacks_, item.stack).bytes_left));
  const auto number = static_cast<std::int32_t>(states_.size());
  states_.push_back(std::move(state));
  next_.resize(next_.size() + classes_.count, unknown);
  same.push_back(number);
  return number;
}

// Neighbouring bytes often lead to the same places, so the last state that was made is tried first.
std::int32_t ByteAutomaton::make_next(std::int32_t state, unsigned char byte) {
  std::vector<Item> reached;
  for (const Item& item : element(states_, state).items)
    for (const Grammar::Edge& e : grammar_.state(item.at).edges)
      if (byte >= e.least && byte <= e.most) reached.push_back({e.to, item.stack});
  std::int32_t to = dead;
  if (!reached.empty() && reached == last_reached_) {
    to = last_made_;
  } else if (!reached.empty()) {
    to = last_made_ = number_of(closure(reached));
    last_reached_ = std::move(reached);
  }
  next_[static_cast<std::size_t>(state) * classes_.count + classes_.of[byte]] = to;
  return to;
}

}  // namespace tril::search
