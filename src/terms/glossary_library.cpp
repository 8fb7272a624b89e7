#include "terms/glossary_library.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/printable.h"

namespace tril::terms {
namespace {

constexpr std::size_t most_matchers = 64;
constexpr std::size_t most_names_told = 20;

// A table's entries for a pair; the request is wrong if it has none.
Glossary glossary_in(const TermTable& table, const std::string& name, const LanguagePair& pair) {
  try {
    return glossary_of(table, pair);
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::usage) throw;
    throw Error(ErrorKind::usage, "glossary", fmt::format("\"{}\" {}", printable(name), e.message()), e.hint());
  }
}

}  // namespace

void GlossaryLibrary::add(const std::string& name, TermTable table) {
  const bool stated = !table.languages.empty() && !table.languages[0].empty();
  if (!stated)
    fail_usage(table.name, "does not state its languages, which a server needs",
               "name the columns by their languages in the first line, for example en and de");
  check(tables_.emplace(name, std::move(table)).second, "glossary", "two glossaries are called \"{}\"",
        printable(name));
}

void GlossaryLibrary::fail_unknown(const std::string& name, const Viewer& viewer) const {
  std::vector<std::string> names;
  for (const auto& [known, table] : tables_) names.push_back(known);
  for (const StoredGlossaryPtr& one : store_->list(viewer)) names.push_back(one->glossary.name);
  const std::string hint = did_you_mean(name, names);
  if (names.size() > most_names_told) names.resize(most_names_told);
  fail_usage("glossary", fmt::format("there is no glossary \"{}\"", printable(name)),
             !hint.empty()   ? hint
             : names.empty() ? "upload one with POST /glossaries"
                             : fmt::format("there are {}", printable(fmt::format("{}", fmt::join(names, ", ")), 2000)));
}

GlossaryLibrary::Chosen GlossaryLibrary::choose(const std::string& name, const LanguagePair& pair,
                                                const Viewer& viewer) const {
  if (const auto table = tables_.find(name); table != tables_.end())
    return {.key = fmt::format("{}\n{}", name, pair.target), .table = &table->second};
  StoredGlossaryPtr stored = choose_stored(name, pair, viewer);
  const std::string key = fmt::format("{}\n{}", stored->id, stored->revision);
  return {.key = key, .stored = std::move(stored)};
}

StoredGlossaryPtr GlossaryLibrary::choose_stored(const std::string& name, const LanguagePair& pair,
                                                 const Viewer& viewer) const {
  std::vector<StoredGlossaryPtr> called;
  if (StoredGlossaryPtr one = store_->find(name, viewer)) called.push_back(std::move(one));
  if (called.empty())
    for (StoredGlossaryPtr& one : store_->list(viewer))
      if (one->glossary.name == name) called.push_back(std::move(one));
  if (called.empty()) fail_unknown(name, viewer);
  std::vector<StoredGlossaryPtr> fit = called;
  std::erase_if(fit, [&](const StoredGlossaryPtr& one) { return !serves(one->glossary.languages, pair); });
  const auto or_unknown = [](const std::string& code) {
    return code.empty() ? std::string("an unknown language") : code;
  };
  if (fit.empty())
    fail_usage(
        "glossary",
        fmt::format("\"{}\" is for {} to {}, not for {} to {}", printable(name), called[0]->glossary.languages.source,
                    called[0]->glossary.languages.target, or_unknown(pair.source), or_unknown(pair.target)),
        "use a glossary of these languages");
  if (fit.size() > 1)
    fail_usage("glossary", fmt::format("{} glossaries are called \"{}\"", fit.size(), printable(name)),
               "give the id of one of them");
  return fit[0];
}

std::shared_ptr<const TermMatcher> GlossaryLibrary::matcher(const GlossaryWish& wish, const Viewer& viewer) const {
  if (wish.names.empty()) return nullptr;
  std::vector<Chosen> chosen;
  std::string key = fmt::format("{}\n{}", name_of(wish.match), wish.pair.source);
  for (const std::string& name : wish.names) {
    chosen.push_back(choose(name, wish.pair, viewer));
    key += "\n" + chosen.back().key;
  }
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = matchers_.find(key); known != matchers_.end()) return known->second;
  }
  std::vector<Glossary> of_tables;
  of_tables.reserve(chosen.size());
  std::vector<const Glossary*> glossaries;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    if (chosen[i].table) of_tables.push_back(glossary_in(*chosen[i].table, wish.names[i], wish.pair));
    glossaries.push_back(chosen[i].table ? &of_tables.back() : &chosen[i].stored->glossary);
  }
  std::size_t left_out = 0;
  const std::string& source = wish.pair.source.empty() ? glossaries[0]->languages.source : wish.pair.source;
  auto made =
      std::make_shared<const TermMatcher>(merged_entries(glossaries, left_out), MatchOptions{wish.match, source});
  const std::lock_guard lock(mutex_);
  if (matchers_.size() >= most_matchers) matchers_.clear();  // glossaries change now and then
  return matchers_[key] = made;
}

}  // namespace tril::terms
