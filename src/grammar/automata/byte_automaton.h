// A grammar as a deterministic automaton over bytes. A state is everything that the bytes so far may be in the grammar:
// a set of places, each with the stack of calls that led to it. States and the edges between them are made on demand
// and kept.
#pragma once

#include <compare>
#include <cstdint>
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

  static constexpr std::int32_t dead = 0;  ///< the state of what no text begins with
  std::int32_t start() const { return start_; }
  std::int32_t next(std::int32_t state, unsigned char byte) {
    const std::size_t cell = static_cast<std::size_t>(state) * classes_.count + classes_.of[byte];
    const std::int32_t to = next_[cell];
    return to == unknown ? make_next(state, byte) : to;
  }
  std::int32_t next(std::int32_t state, std::string_view bytes);

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
    std::vector<Item> items;  ///< those with an outgoing byte edge, ascending
    bool complete = false;
    std::int64_t bytes_left = Grammar::never;
  };
  struct Stack {
    std::int32_t at, below;   ///< where to continue when the rule ends; -1: no frame below
    std::int64_t bytes_left;  ///< from there to the end of the text
  };
  struct ItemHash {
    std::size_t operator()(const Item& item) const;
  };

  std::int64_t distance(std::int32_t at) const { return element(distance_, at); }
  std::int32_t pushed(std::int32_t at, std::int32_t below);
  State closure(std::vector<Item> pending);
  std::int32_t number_of(State state);
  std::int32_t make_next(std::int32_t state, unsigned char byte);

  Grammar grammar_;
  Grammar::ByteClasses classes_;
  std::vector<unsigned char> lowest_bytes_;
  std::vector<std::int64_t> distance_;
  std::int32_t start_ = dead;
  std::vector<State> states_;
  std::vector<std::int32_t> next_;  // [states, byte classes]
  std::unordered_map<std::uint64_t, std::vector<std::int32_t>> numbers_;
  std::vector<Stack> stacks_;
  std::unordered_map<Item, std::int32_t, ItemHash> stack_numbers_;
  std::vector<Item> last_reached_;  // what make_next() made a state of, and its number
  std::int32_t last_made_ = dead;
};

}  // namespace tril::search
