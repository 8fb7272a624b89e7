// Sets of texts as automata over characters: what a regular expression (regex_tree.h) matches, texts of some length,
// listed texts and all others; to be combined (and, not) before they are written as bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "grammar/expressions/char_set.h"
#include "grammar/expressions/regex_tree.h"

namespace tril::search {

struct CommonPattern;

class Pattern {
 public:
  struct Edge {
    CharSet on;
    std::int32_t to;
  };
  struct State {
    std::vector<Edge> edges;
    std::vector<std::int32_t> jumps;
  };
  static constexpr std::size_t most_states = 500'000;

  /// Whether a text must match as a whole, or only contain a match, as `pattern` of JSON schema has it.
  enum class Match : std::uint8_t { whole, part };
  /// @throws Error(usage) naming the place and what is not supported
  static Pattern of_regex(std::string_view regex, Match match, RegexReading reading = RegexReading::narrow);
  /// Any text of that many characters.
  static Pattern of_length(std::int64_t least, std::optional<std::int64_t> most);
  /// One of these texts.
  static Pattern of_texts(std::span<const std::string> texts);
  /// Any text but these.
  static Pattern except(std::span<const std::string> texts);

  /// Any text that begins with one of these characters.
  static Pattern beginning_with(const CharSet& first);
  /// Any text of which the number of characters leaves `rest` when divided by `divisor`.
  static Pattern of_length_modulo(std::int64_t divisor, std::int64_t rest);

  /// What both allow. @throws Unsupported where that takes more than `most` states, until those without a way out are gone
  Pattern operator&(const Pattern& other) const;
  CommonPattern common(const Pattern& other, std::size_t most = most_states) const;
  /// What it does not allow. @throws Unsupported where that takes too many states
  Pattern complement() const;
  bool matches(std::string_view text) const;
  /// The same, and how many states, and ranges of characters, were looked at.
  struct Outcome {
    bool matches;
    std::int64_t steps;
  };
  Outcome match(std::string_view text) const;
  /// Whether no text matches.
  bool is_empty() const;

  std::int32_t start() const { return 0; }
  std::int32_t end() const { return 1; }
  const std::vector<State>& states() const { return states_; }

 private:
  Pattern() : states_(2) {}
  std::int32_t add_state();
  void add_edge(std::int32_t from, CharSet on, std::int32_t to);
  void add_jump(std::int32_t from, std::int32_t to);
  /// Without the states from which there is no way to the end.
  Pattern trimmed() const;
  friend class PatternBuilder;

  std::vector<State> states_;  // 0 is the start, 1 the end
};

/// What two patterns both allow, and how many states it took to find that.
struct CommonPattern {
  Pattern pattern;
  std::int64_t steps;
};

}  // namespace tril::search
