#include "terms/glossary.h"

#include <fmt/format.h>

#include <optional>
#include <unordered_map>

#include "base/as_size.h"
#include "base/error.h"
#include "base/printable.h"
#include "language/match.h"
#include "terms/units.h"

namespace tril::terms {
namespace {

constexpr std::size_t most_lines_told = 10;

// Lines with something in common: "lines 3, 7 and 12 more".
class Lines {
 public:
  void add(std::int64_t line) {
    if (first_.size() < most_lines_told) first_.push_back(line);
    ++count_;
  }
  std::size_t count() const { return count_; }
  std::string text() const {
    const std::string list = fmt::format("line{} {}", count_ == 1 ? "" : "s", fmt::join(first_, ", "));
    return count_ > first_.size() ? fmt::format("{} and {} more", list, count_ - first_.size()) : list;
  }

 private:
  std::vector<std::int64_t> first_;
  std::size_t count_ = 0;
};

// The places of the pair's languages in the table.
std::pair<std::size_t, std::size_t> columns_of(const TermTable& table, const LanguagePair& pair) {
  const bool stated = table.languages.empty() || !table.languages[0].empty();
  if (!stated) return {0, 1};
  const KnownLanguages known(table.languages);
  const auto column = [&](const std::string& code) -> std::optional<std::size_t> {
    if (code.empty()) return std::nullopt;
    const std::optional<std::size_t> found = known.find(code);
    if (!found)
      fail_usage(
          table.name,
          fmt::format("has no phrases in {}, only in {}", printable(code), fmt::join(table.languages, ", ")),
          "use a glossary of this language; if its first line is an entry, put a line `source`, `target` before it");
    return found;
  };
  const std::optional<std::size_t> source = column(pair.source), target = column(pair.target);
  if (source && target && *source != *target) return {*source, *target};
  if (source && target)
    fail_usage(table.name, fmt::format("has no translations from {} into {}", pair.source, pair.target),
               "use a glossary of both languages");
  if (table.languages.size() != 2)
    fail_usage(table.name, fmt::format("has several languages: {}", fmt::join(table.languages, ", ")),
               "give the source and the target language");
  if (source) return {*source, 1 - *source};
  if (target) return {1 - *target, *target};
  return {0, 1};
}

const Phrase* best_phrase(const Concept& one, std::size_t language) {
  const Phrase* best = nullptr;
  for (const Phrase& phrase : one.phrases) {
    if (phrase.language != language || phrase.standing == Standing::forbidden) continue;
    if (!best || (phrase.standing == Standing::preferred && best->standing != Standing::preferred)) best = &phrase;
  }
  return best;
}

class GlossaryMaker {
 public:
  GlossaryMaker(const TermTable& table, const LanguagePair& pair) : table_(table) {
    glossary_.name = table.name;
    std::tie(source_, target_) = columns_of(table, pair);
    const auto code = [&](std::size_t i, const std::string& asked) {
      return table.languages.empty() || table.languages[i].empty() ? asked : table.languages[i];
    };
    if (!table.languages.empty()) glossary_.languages = {code(source_, pair.source), code(target_, pair.target)};
  }

  Glossary make() {
    for (const Concept& one : table_.concepts) add(one);
    std::erase_if(glossary_.entries, [](const Entry& e) { return e.target.empty(); });  // homonyms
    tell(twice_, "duplicate entries count once");
    tell(homonyms_, "phrases with different translations are left out");
    tell(alone_, "concepts without a usable phrase in both languages are left out");
    return std::move(glossary_);
  }

 private:
  void add(const Concept& one) {
    const Phrase* const target = best_phrase(one, target_);
    bool has_source = false;
    for (const Phrase& phrase : one.phrases) {
      if (phrase.language != source_) continue;
      has_source = true;
      if (target) add(Entry{phrase.text, target->text, one.match, one.line});
    }
    if (!target || !has_source) alone_.add(one.line);
  }

  void add(Entry entry) {
    const auto [at, is_new] = places_.emplace(exact_text(entry.source), glossary_.entries.size());
    if (is_new) {
      glossary_.entries.push_back(std::move(entry));
      return;
    }
    Entry& first = glossary_.entries[at->second];
    if (first.target == entry.target) return twice_.add(entry.line);
    if (!table_.has_homonyms)
      fail(fmt::format("{}: line {}", table_.name, entry.line),
           fmt::format("\"{}\" is translated as \"{}\" here, but as \"{}\" in line {}", printable(entry.source),
                       printable(entry.target), printable(first.target), first.line),
           "keep one of the two lines");
    homonyms_.add(entry.line);
    first.target.clear();
  }

  void tell(const Lines& lines, const char* what) {
    if (lines.count() > 0) glossary_.notes.push_back(fmt::format("{}: {} ({})", table_.name, what, lines.text()));
  }

  const TermTable& table_;
  Glossary glossary_;
  std::size_t source_ = 0, target_ = 1;
  std::unordered_map<std::string, std::size_t> places_;
  Lines twice_, homonyms_, alone_;
};

bool fits(const std::string& have, const std::string& wanted) {
  const std::optional<Language> a = find_language(wanted), b = find_language(have);
  return !a || !b || language_distance(*a, *b);
}

}  // namespace

bool serves(const LanguagePair& have, const LanguagePair& wanted) {
  return fits(have.source, wanted.source) && fits(have.target, wanted.target);
}

Glossary glossary_of(const TermTable& table, const LanguagePair& pair) {
  return GlossaryMaker(table, pair).make();
}

std::vector<Entry> merged_entries(std::span<const Glossary* const> glossaries, std::size_t& left_out) {
  std::vector<Entry> all;
  std::unordered_map<std::string, std::size_t> places;
  left_out = 0;
  for (const Glossary* const glossary : glossaries)
    for (const Entry& entry : glossary->entries) {
      const auto [at, is_new] = places.emplace(exact_text(entry.source), all.size());
      if (is_new)
        all.push_back(entry);
      else if (all[at->second].target != entry.target)
        ++left_out;
    }
  return all;
}

}  // namespace tril::terms
