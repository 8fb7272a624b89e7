// A grammar over bytes: each rule is an automaton whose edges consume one byte, or call another rule. Rules may call
// themselves through others and so nest to any depth, which JSON needs and a regular expression cannot express; a
// grammar without calls is a finite automaton.
//
//   state --[least, most]--> state     one byte from that range
//   state --rule--> state              a text of the rule
//   state --> state                    no byte
//
// Rule 0 is the whole text. Every rule leads from its start to its single end, which has no outgoing edges.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/element.h"

namespace tril::search {

class Grammar {
 public:
  static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max() / 4;
  /// More than any document needs, and little enough for memory: a schema with counted repeats can ask for more.
  static constexpr std::size_t most_states = 2'000'000;

  struct Edge {
    unsigned char least, most;
    std::int32_t to;
  };
  struct Call {
    std::int32_t rule, to;
  };
  struct State {
    std::vector<Edge> edges;
    std::vector<Call> calls;
    std::vector<std::int32_t> jumps;
    bool ends_rule = false;
  };
  struct Rule {
    std::int32_t start, end;
  };

  Grammar() = default;
  /// A grammar of these states and rules.
  Grammar(std::vector<State> states, std::vector<Rule> rules) : states_(std::move(states)), rules_(std::move(rules)) {}

  /// Adds a rule whose start and end are not yet connected.
  std::int32_t add_rule();
  /// @throws Error(usage) beyond most_states
  std::int32_t add_state();
  const Rule& rule(std::int32_t r) const { return element(rules_, r); }
  const State& state(std::int32_t s) const { return element(states_, s); }
  std::size_t rules() const { return rules_.size(); }
  std::size_t states() const { return states_.size(); }

  void add_edge(std::int32_t from, unsigned char least, unsigned char most, std::int32_t to);
  void add_call(std::int32_t from, std::int32_t rule, std::int32_t to);
  void add_jump(std::int32_t from, std::int32_t to);
  /// @return the state after `text`, which is new
  std::int32_t add_text(std::int32_t from, std::string_view text);

  /// The fewest bytes from each state to the end of its rule; `never` if there is no path. Kept until the grammar grows.
  const std::vector<std::int64_t>& distances();
  /// Bytes that no edge distinguishes share a number, from 0 up.
  struct ByteClasses {
    std::array<std::uint8_t, 256> of{};
    std::size_t count = 1;
  };
  ByteClasses byte_classes() const;
  /// @throws Error(usage) if the grammar allows no text, or a rule is left-recursive (begins with itself)
  /// @param lacking  why there may be no text: what could not be spelt; may be empty
  void check_sound(const std::string& lacking = {});

 private:
  std::vector<std::int32_t> begun_by(std::int32_t r);

  std::vector<State> states_;
  std::vector<Rule> rules_;
  std::vector<std::int64_t> distance_;  // empty, or those of all states
};

}  // namespace tril::search
