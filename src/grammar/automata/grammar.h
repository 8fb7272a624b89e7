// What may be written, as bytes: rules that are automata, whose edges take a byte each and whose calls take all that
// another rule may write. Rules that call themselves through others nest to any depth, which is what JSON needs and a
// regular expression cannot say; a grammar without calls is a finite automaton.
//
//   state --[least, most]--> state     one byte from that range
//   state --rule--> state              a text of the rule
//   state --> state                    nothing
//
// Rule 0 is the whole text. Every rule goes from its start to its one end, out of which nothing leads.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace tril::search {

class Grammar {
 public:
  static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max() / 4;
  /// More than any document needs, and less than any memory: a schema of counted repeats can ask for more.
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

  /// Of a new rule, without a way from its start to its end yet.
  std::int32_t add_rule();
  /// @throws Error(usage) beyond most_states
  std::int32_t add_state();
  const Rule& rule(std::int32_t r) const { return rules_[static_cast<std::size_t>(r)]; }
  const State& state(std::int32_t s) const { return states_[static_cast<std::size_t>(s)]; }
  std::size_t rules() const { return rules_.size(); }
  std::size_t states() const { return states_.size(); }

  void add_edge(std::int32_t from, unsigned char least, unsigned char most, std::int32_t to);
  void add_call(std::int32_t from, std::int32_t rule, std::int32_t to);
  void add_jump(std::int32_t from, std::int32_t to);
  /// The state behind `text`, which is new.
  std::int32_t add_text(std::int32_t from, std::string_view text);

  /// The fewest bytes from each state to the end of its rule; never: there is no way.
  std::vector<std::int64_t> distances() const;
  /// Bytes that no edge tells apart have one number, from 0 up.
  struct ByteClasses {
    std::array<std::uint8_t, 256> of{};
    std::int32_t count = 1;
  };
  ByteClasses byte_classes() const;
  /// Throws Error(usage) where nothing can be written at all, or a rule begins with itself before it takes a byte.
  /// @param lacking  why nothing might be: what could not be spelt; may be empty
  void check_sound(const std::string& lacking = {}) const;

 private:
  std::vector<std::int32_t> begun_by(std::int32_t r, const std::vector<std::int64_t>& distance) const;

  std::vector<State> states_;
  std::vector<Rule> rules_;
};

}  // namespace tril::search
