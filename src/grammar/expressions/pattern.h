// Sets of texts as automata over characters: the matches of a regular expression (pattern_of_regex.h), texts of some length,
// listed texts, all texts but the listed. Patterns are combined (and, not) before they are written as bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "grammar/expressions/char_set.h"

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

  /// A start and an end that are not connected: no text.
  Pattern() : states_(2) {}
  /// Texts of `least` to `most` characters.
  static Pattern of_length(std::int64_t least, std::optional<std::int64_t> most);
  /// The listed texts.
  static Pattern of_texts(std::span<const std::string> texts);
  /// All texts except these.
  static Pattern except(std::span<const std::string> texts);

  /// Texts that begin with one of these characters.
  static Pattern beginning_with(const CharSet& first);
  /// Texts whose number of characters leaves the remainder `rest` when divided by `divisor`.
  static Pattern of_length_modulo(std::int64_t divisor, std::int64_t rest);

  /// The intersection. @throws Unsupported if it takes more than `most` states before dead states are removed
  Pattern operator&(const Pattern& other) const;
  CommonPattern common(const Pattern& other, std::size_t most = most_states) const;
  bool matches(std::string_view text) const;
  /// Whether the text matches, and how many states and character ranges were visited.
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

  std::int32_t add_state();
  void add_edge(std::int32_t from, CharSet on, std::int32_t to);
  void add_jump(std::int32_t from, std::int32_t to);
  /// The pattern without states from which the end cannot be reached.
  Pattern trimmed() const;

 private:
  std::vector<State> states_;  // 0 is the start, 1 the end
};

/// The intersection of two patterns, and how many states it took to find it.
struct CommonPattern {
  Pattern pattern;
  std::int64_t steps;
};

}  // namespace tril::search
