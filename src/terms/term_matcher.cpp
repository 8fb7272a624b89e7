#include "terms/term_matcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "base/as_size.h"
#include "base/error.h"
#include "base/printable.h"
#include "language/code.h"
#include "terms/protected_text.h"
#include "terms/stem.h"
#include "terms/units.h"
#include "unicode/characters.h"
#include "unicode/letter_case.h"
#include "unicode/trim.h"
#include "unicode/word_boundary.h"

namespace tril::terms {
namespace {

constexpr std::size_t most_notes = 20;

// "IT", "NATO", but not "I".
bool is_of_capitals(std::string_view text) {
  return characters_in(text) >= 2 && is_upper_case(text);
}

std::vector<std::string_view> endings_for(const MatchOptions& options) {
  const std::optional<Language> language = find_language(options.language);
  const auto endings = language ? endings_of(language->language) : std::span<const std::string_view>{};
  return {endings.begin(), endings.end()};
}

bool is_word_at(std::string_view text, std::size_t at) {
  return at < text.size() && begins_with_word_character(text.substr(at, character_at(text, at).length));
}

// Whether a word goes on beside a place in a text: "foo_bar", and "can't". Other apostrophes divide words: "l'eau", "dog's".
bool goes_on_behind(std::string_view text, std::size_t end) {
  const std::string_view rest = text.substr(end);
  if (rest.starts_with('_')) return is_word_at(text, end + 1);
  const std::size_t apostrophe = rest.starts_with('\'') ? 1 : rest.starts_with("\u2019") ? 3 : 0;
  const char last = end > 0 ? text[end - 1] : '\0', next = apostrophe < rest.size() ? rest[apostrophe] : '\0';
  return apostrophe > 0 && (last == 'n' || last == 'N') && (next == 't' || next == 'T') &&
         !is_word_at(text, end + apostrophe + 1);
}
bool goes_on_before(std::string_view text, std::size_t begin) {
  if (begin < 2 || text[begin - 1] != '_') return false;
  std::size_t letter = begin - 2;
  while (letter > 0 && (static_cast<unsigned char>(text[letter]) & 0xc0) == 0x80) --letter;
  return is_word_at(text, letter);
}

}  // namespace

TermMatcher::TermMatcher(std::vector<Entry> entries, const MatchOptions& options) : endings_(endings_for(options)) {
  const bool stems = options.match == Match::stem ||
                     std::any_of(entries.begin(), entries.end(), [](const Entry& e) { return e.match == Match::stem; });
  if (stems && endings_.empty())
    fail_usage("glossary_match",
               options.language.empty()
                   ? std::string("`stem` needs the language of the texts, which is not given")
                   : fmt::format("there are no endings of {} for `stem`", printable(options.language)),
               fmt::format("use `case`; languages with endings: {}", fmt::join(languages_with_endings(), ", ")));
  for (Entry& entry : entries) {
    entry.source = trim(entry.source), entry.target = trim(entry.target);
    if (entry.source.empty() || entry.target.empty())
      fail_usage("terminology",
                 fmt::format("\"{}\" -> \"{}\": a phrase is empty", printable(entry.source), printable(entry.target)));
    entries_.push_back(std::move(entry));
    add(entries_.size() - 1, match_of(entries_.back(), options));
  }
  for (PhraseAutomaton& automaton : automata_) automaton.finish();
}

Match TermMatcher::match_of(const Entry& entry, const MatchOptions& options) const {
  if (entry.match) return *entry.match;
  return is_of_capitals(entry.source) ? Match::exact : options.match;
}

// The entry joins the automata of its kind and of all stricter ones.
void TermMatcher::add(std::size_t number, Match match) {
  const auto forms = forms_of(entries_[number].source);
  bool noted = false;
  for (std::size_t kind = 0; kind <= static_cast<std::size_t>(match); ++kind) {
    const std::int32_t other = automata_[kind].add(forms[kind], static_cast<std::int32_t>(number));
    if (other < 0 || other == static_cast<std::int32_t>(number)) continue;
    const Entry &a = entries_[as_size(other)], &b = entries_[number];
    if (kind == 0 && a.target != b.target)
      fail_usage("terminology",
                 fmt::format("\"{}\" has two translations, \"{}\" and \"{}\"", printable(b.source), printable(a.target),
                             printable(b.target)),
                 "keep only one of them");
    if (kind == 0) {
      entries_.pop_back();  // the same entry
      return;
    }
    if (a.target == b.target) continue;
    automata_[kind].block(forms[kind]);
    if (!noted && notes_.size() < most_notes)
      notes_.push_back(
          fmt::format("\"{}\" and \"{}\" differ only in {}, but have different translations: each is found "
                      "only {}",
                      printable(a.source), printable(b.source), kind == 1 ? "case" : "endings",
                      kind == 1 ? "as it is written" : "with its own endings"));
    noted = true;
  }
}

// The forms of a text's units by which they are compared, for each kind of Match.
std::array<std::vector<std::string>, TermMatcher::kinds> TermMatcher::forms_of(std::string_view text) const {
  std::array<std::vector<std::string>, kinds> forms;
  for (const Unit& unit : units_of(text)) {
    const std::string_view part = text.substr(unit.begin, unit.end - unit.begin);
    forms[0].push_back(exact_form(part));
    forms[1].push_back(folded_form(part));
    forms[2].push_back(unit.word ? stem_of(forms[1].back(), endings_) : forms[1].back());
  }
  return forms;
}

std::vector<FoundTerm> TermMatcher::find(std::string_view text) const {
  std::vector<FoundTerm> found;
  if (entries_.empty()) return found;
  const std::vector<Unit> units = units_of(text);
  const std::vector<document::Range> closed = protected_ranges(text);
  std::array<std::vector<std::int32_t>, kinds> numbers;
  const bool folds = !automata_[1].empty() || !automata_[2].empty();
  auto range = closed.begin();
  for (const Unit& unit : units) {
    while (range != closed.end() && range->end <= unit.begin) ++range;
    const bool hidden = range != closed.end() && range->begin < unit.end;
    const std::string_view part = text.substr(unit.begin, unit.end - unit.begin);
    const std::string folded = hidden || !folds ? std::string() : folded_form(part);
    numbers[0].push_back(hidden ? -1 : automata_[0].unit(exact_form(part)));
    if (!automata_[1].empty()) numbers[1].push_back(hidden ? -1 : automata_[1].unit(folded));
    if (!automata_[2].empty())
      numbers[2].push_back(hidden ? -1 : automata_[2].unit(unit.word ? stem_of(folded, endings_) : folded));
  }
  std::array<std::vector<PhraseAutomaton::Found>, kinds> longest;
  for (std::size_t kind = 0; kind < kinds; ++kind)
    if (!automata_[kind].empty()) longest[kind] = automata_[kind].longest(numbers[kind]);
  for (std::size_t i = 0; i < units.size();) {
    PhraseAutomaton::Found best;
    Match match = Match::exact;
    for (std::size_t kind = 0; kind < kinds; ++kind)
      if (!longest[kind].empty() && longest[kind][i].length > best.length)
        best = longest[kind][i], match = static_cast<Match>(kind);
    if (best.length == 0) {
      ++i;
      continue;
    }
    const std::size_t end = i + as_size(best.length);
    if (goes_on_before(text, units[i].begin) || goes_on_behind(text, units[end - 1].end)) {
      ++i;
      continue;
    }
    found.push_back({units[i].begin, units[end - 1].end, as_size(best.phrase), match});
    i = end;
  }
  return found;
}

}  // namespace tril::terms
