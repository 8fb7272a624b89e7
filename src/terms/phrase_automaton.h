// Finds the longest phrase that begins at each place of a text, in time linear in the text, for any number of phrases.
//
// An automaton of Aho and Corasick [1975, "Efficient string matching"] over the reversed phrases reads the text from its end.
// After the unit at place i, its state is the longest reversed beginning of the text from i on, so the longest phrase in that state
// is the longest one that begins at i.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tril::terms {

class PhraseAutomaton {
 public:
  /// A phrase that begins at a place.
  struct Found {
    std::int32_t length = 0;  ///< in units; 0: no phrase begins here
    std::int32_t phrase = -1;
  };

  /// Adds a phrase of at least one unit, before finish(). @return the number of the phrase that has these units already, else
  /// `phrase`; -1 if they are blocked
  std::int32_t add(std::span<const std::string> units, std::int32_t phrase);
  /// Blocks these units: from now on, no phrase has them; shorter phrases are still found at their place.
  void block(std::span<const std::string> units);
  /// Ends the additions.
  void finish();

  /// The number of a unit; -1 if it is in no phrase.
  std::int32_t unit(std::string_view text) const;
  bool empty() const { return nodes_.size() == 1; }
  /// The longest phrase at each place. @param units  numbers from unit()
  std::vector<Found> longest(std::span<const std::int32_t> units) const;

 private:
  static constexpr std::int32_t blocked = -2;  // the phrase of a blocked node

  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  struct Node {
    std::int32_t fail = 0;
    Found found;  // after finish(): the longest one of this node and of those that it fails to
  };

  std::int32_t child(std::int32_t node, std::int32_t unit) const;
  std::int32_t node_of(std::span<const std::string> units);
  static std::uint64_t key(std::int32_t node, std::int32_t unit) {
    return static_cast<std::uint64_t>(node) << 32 | static_cast<std::uint32_t>(unit);
  }

  std::vector<Node> nodes_{1};
  std::unordered_map<std::uint64_t, std::int32_t> children_;
  std::unordered_map<std::string, std::int32_t, TextHash, std::equal_to<>> units_;
};

}  // namespace tril::terms
