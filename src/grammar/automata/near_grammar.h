// A smaller grammar that allows the same next bytes. Places of a grammar that the next so many bytes cannot tell apart
// are one place of its near grammar. A long string whose characters are counted has a place for each count; far from its
// shortest and longest length all of them look alike, so that what may follow needs to be found but once.
//
// Two places are alike for n bytes if they have the same steps, and those that consume a byte lead to places that are
// alike for n - 1. So for n bytes from alike places, the near grammar takes the same bytes, whichever place of each set
// gives it its steps: the bounded form of bisimulation [Hennessy & Milner 1985], found by refinement [Moore 1956].
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "grammar/automata/byte_automaton.h"
#include "grammar/automata/grammar.h"

namespace tril::search {

struct NearGrammar {
  Grammar grammar;
  std::vector<std::int32_t> place_of;  ///< by state of the whole grammar; -1: no text ends from there
  /// By state of `grammar`. The distance of any place that is reached in the whole grammar is less than twice that of the
  /// place that is reached by the same bytes here.
  std::vector<std::int64_t> distances;
};

/// A grammar for each number of bytes, which ascend.
std::vector<NearGrammar> near_grammars(Grammar& whole, std::span<const std::int64_t> bytes);

/// The automaton of a near grammar, beside that of the whole grammar.
class NearAutomaton {
 public:
  explicit NearAutomaton(NearGrammar near)
      : place_of_(std::move(near.place_of)), bytes_(std::move(near.grammar), std::move(near.distances)) {}

  ByteAutomaton& bytes() { return bytes_; }
  /// The state that takes the same next bytes as that of the whole grammar's automaton.
  std::int32_t state(const ByteAutomaton& whole, std::int32_t state);
  /// Forgets all states, as the whole grammar's automaton must do then.
  void forget();

 private:
  std::vector<std::int32_t> place_of_;
  ByteAutomaton bytes_;
  std::vector<std::int32_t> state_of_, stack_of_;  // by state and stack of the whole grammar's automaton
};

}  // namespace tril::search
