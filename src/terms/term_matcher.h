// Finds the terms of a glossary in texts: whole words, the longest first, without overlaps.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "terms/phrase_automaton.h"
#include "terms/term.h"

namespace tril::terms {

struct MatchOptions {
  Match match = Match::exact;  ///< of entries without their own
  std::string language = {};   ///< of the texts, by its code in any form: its endings for Match::stem; "": not known
};

/// A term in a text.
struct FoundTerm {
  std::size_t begin = 0, end = 0;  ///< in bytes
  std::size_t entry = 0;           ///< of TermMatcher::entries()
  Match match = Match::exact;      ///< the strictest kind by which it matches
};

/// A set of entries, ready to be found. Finding takes time linear in the text, for any number of entries; thread-safe.
class TermMatcher {
 public:
  /// Phrases are trimmed; duplicate entries count once.
  /// @throws Error(usage) for an empty phrase, for two exact translations of one source phrase, and for Match::stem in a language
  ///   that stem.h does not know
  TermMatcher(std::vector<Entry> entries, const MatchOptions& options);

  /// At each place from left to right, the longest term that begins there is taken, and the search continues after it.
  /// A term begins and ends where a unit does (units.h): at word boundaries, or anywhere in scripts without spaces. Of
  /// equally long ones, the strictest Match counts. Nothing is found within protected_ranges() (protected_text.h).
  std::vector<FoundTerm> find(std::string_view text) const;

  const std::vector<Entry>& entries() const { return entries_; }
  /// Notes for its author: entries that are equal without regard to case, or without endings, but have different
  /// translations. These match only as strictly as they differ.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  static constexpr std::size_t kinds = 3;  // of Match

  std::array<std::vector<std::string>, kinds> forms_of(std::string_view text) const;
  Match match_of(const Entry& entry, const MatchOptions& options) const;
  void add(std::size_t number, Match match);

  std::vector<Entry> entries_;
  std::array<PhraseAutomaton, kinds> automata_;  // by Match
  std::vector<std::string_view> endings_;
  std::vector<std::string> notes_;
};

}  // namespace tril::terms
