// A grammar as a deterministic automaton over bytes. A state is everything that the bytes so far may be in the grammar:
// a set of places, each with the stack of calls that led to it. States and the edges between them are made on demand
// and kept.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/element.h"
#include "grammar/automata/grammar.h"

namespace tril::search {

class ByteAutomaton {
 public:
  explicit ByteAutomaton(Grammar grammar);
  /// @param distances  by place: what the grammar's own distances() stand for here
  ByteAutomaton(Grammar grammar, std::vector<std::int64_t> distances);

  static constexpr std::int32_t dead = 0;  ///< the state of what no text begins with
  std::int32_t start() const { return start_; }
  std::int32_t next(std::int32_t state, unsigned char byte) {
    const std::size_t cell = static_cast<std::size_t>(state) * classes_.count + classes_.of[byte];
    if (next_[cell] == unknown) fill_row(state);
    return next_[cell];
  }
  std::int32_t next(std::int32_t state, std::string_view bytes);

  /// The state whose places are those of another automaton's state under other names.
  /// @param place_of  the names, by place of `other`
  /// @param stacks    what is known of the other's stacks; empty at first, and after either automaton forgot its states
  std::int32_t renamed(const ByteAutomaton& other, std::int32_t state, std::span<const std::int32_t> place_of,
                       std::vector<std::int32_t>& stacks);

  /// Whether the text may end here.
  bool complete(std::int32_t state) const { return element(states_, state).complete; }
  /// Bytes of the shortest continuation that ends the text.
  std::int64_t bytes_left(std::int32_t state) const { return element(states_, state).bytes_left; }
  /// Bytes that no edge of the grammar distinguishes share a number.
  const Grammar::ByteClasses& classes() const { return classes_; }
  /// The lowest byte of each class, ascending.
  const std::vector<unsigned char>& lowest_bytes() const { return lowest_bytes_; }

  std::size_t states() const { return states_.size(); }
  std::size_t stacks() const { return stacks_.size(); }
  /// Forgets all states; their numbers are then invalid, except `dead` and start().
  void forget();

 private:
  static constexpr std::int32_t unknown = -1;

  struct Item {
    std::int32_t at, stack;
    friend auto operator<=>(const Item&, const Item&) = default;
  };
  struct State {
    std::size_t first_item, items;  ///< in items_: those with an outgoing byte edge, ascending
    std::uint64_t hash;
    bool complete;
    std::int64_t bytes_left;
  };
  struct Stack {
    std::int32_t at, below;   ///< where to continue when the rule ends; -1: no frame below
    std::int64_t bytes_left;  ///< from there to the end of the text
  };
  struct ItemHash {
    std::size_t operator()(const Item& item) const;
  };
  // The bytes from one edge's end to the next lead to the same places.
  struct Range {
    std::size_t begin;
    std::vector<Item> reached;
    std::int32_t to;
  };

  std::int64_t distance(std::int32_t at) const { return element(distance_, at); }
  std::span<const Item> items(const State& state) const {
    return std::span(items_).subspan(state.first_item, state.items);
  }
  std::int32_t pushed(std::int32_t at, std::int32_t below);
  std::int32_t closure(std::span<const Item> reached);
  std::int32_t number_of(std::span<const Item> items, bool complete);
  void make_room();
  std::size_t find_ranges(std::int32_t state);
  void fill_row(std::int32_t state);

  Grammar grammar_;
  Grammar::ByteClasses classes_;
  std::vector<unsigned char> lowest_bytes_;
  std::vector<std::int64_t> distance_;
  std::vector<char> is_leaf_;  // by place: it has edges, and without a byte nothing else is reached from it
  std::int32_t start_ = dead;
  std::vector<State> states_;
  std::vector<Item> items_;            // of all states
  std::vector<std::int32_t> next_;     // [states, byte classes]; unknown for a whole state or for none of its bytes
  std::vector<std::int32_t> numbers_;  // states by their hashes, with linear probing; `unknown` where there is none
  std::vector<Stack> stacks_;
  std::unordered_map<Item, std::int32_t, ItemHash> stack_numbers_;
  // Used while states are made, and kept for their memory.
  std::vector<Item> pending_, closed_, few_;
  std::vector<Range> ranges_;
};

}  // namespace tril::search
