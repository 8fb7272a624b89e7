#include "serve/dialects/deepl_glossary.h"

#include <algorithm>
#include <ctime>
#include <tuple>

#include "base/printable.h"
#include "language/match.h"
#include "serve/api/request_terms.h"
#include "serve/dialects/deepl_lists.h"

namespace tril::serve {
namespace {

constexpr std::size_t most_glossaries = 5;  // of a translation, as DeepL's clients allow

std::optional<int> distance(const std::string& wanted, const std::string& have) {
  const std::optional<Language> a = find_language(wanted), b = find_language(have);
  return a && b ? language_distance(*a, *b) : std::nullopt;
}

// The dictionary for a translation. The request's own check of its languages comes later.
terms::StoredGlossaryPtr dictionary_for(const DeeplGlossary& glossary, const GlossaryChoice& choice) {
  terms::StoredGlossaryPtr best;
  int least = 0;
  std::vector<std::string> pairs;
  for (const terms::StoredGlossaryPtr& one : glossary.dictionaries) {
    const terms::LanguagePair& pair = one->glossary.languages;
    pairs.push_back(fmt::format("{} to {}", pair.source, pair.target));
    const std::optional<int> source = distance(choice.source_lang, pair.source),
                             target = distance(choice.target_lang, pair.target);
    if (!source || !target || (best && *source + *target >= least)) continue;
    best = one, least = *source + *target;
  }
  if (best) return best;
  if (pairs.size() > 20) pairs.resize(20);
  throw field_error("glossary_id", fmt::format("the glossary \"{}\" has no dictionary for {} to {}, only for {}",
                                               printable(glossary.name()), printable(choice.source_lang, 20),
                                               printable(choice.target_lang, 20), fmt::join(pairs, ", ")));
}

std::vector<std::string> ids_of(const GlossaryChoice& choice) {
  if (!choice.glossary_id.empty() && !choice.glossary_ids.empty())
    throw field_error("glossary_ids", "cannot be used together with glossary_id");
  if (!choice.glossary_id.empty()) return {choice.glossary_id};
  std::vector<std::string> ids;
  for (const std::string& text : choice.glossary_ids)
    for (std::string& id : names_between_commas(text)) ids.push_back(std::move(id));
  if (ids.size() > most_glossaries)
    throw field_error("glossary_ids",
                      fmt::format("has {} glossaries; at most {} are allowed", ids.size(), most_glossaries));
  return ids;
}

}  // namespace

std::vector<DeeplGlossary> deepl_glossaries(const Service& service, const Call& call) {
  std::vector<DeeplGlossary> all;
  std::map<std::string, std::size_t> places;
  for (terms::StoredGlossaryPtr& one : service.glossaries().store().list(viewer_of(call))) {
    const auto [place, is_new] = places.emplace(one->group_id(), all.size());
    if (is_new) all.push_back({one->group_id(), {}});
    all[place->second].dictionaries.push_back(std::move(one));
  }
  for (DeeplGlossary& one : all) sort_dictionaries(one);
  return all;
}

void sort_dictionaries(DeeplGlossary& glossary) {
  const auto pair = [](const terms::StoredGlossaryPtr& one) {
    return std::tie(one->glossary.languages.source, one->glossary.languages.target);
  };
  std::sort(glossary.dictionaries.begin(), glossary.dictionaries.end(),
            [&](const auto& a, const auto& b) { return pair(a) < pair(b); });
}

DeeplGlossary deepl_glossary(const Service& service, const Call& call, const std::string& id) {
  for (DeeplGlossary& one : deepl_glossaries(service, call))
    if (one.id == id) return std::move(one);
  throw HttpError(404, fmt::format("Glossary not found: {}", printable(id, 60)));
}

std::vector<std::string> chosen_glossaries(const Service& service, const Call& call, const GlossaryChoice& choice) {
  const std::vector<std::string> ids = ids_of(choice);
  if (!ids.empty() && choice.source_lang.empty()) throw field_error("source_lang", "must be given with a glossary");
  std::vector<std::string> names;
  for (const std::string& id : ids)
    names.push_back(service.glossaries().tables().contains(id)
                        ? id
                        : dictionary_for(deepl_glossary(service, call, id), choice)->id);
  return names;
}

Fields fields_of(DictionaryRequest& r) {
  static const std::vector<std::pair<std::string, terms::TableFormat>> formats{{"tsv", terms::TableFormat::tsv},
                                                                               {"csv", terms::TableFormat::csv}};
  Fields f;
  f.add("source-lang", &r.source_lang, "source language of the entries").required();
  f.add("target-lang", &r.target_lang, "target language of the entries; the glossary also applies to its variants")
      .required();
  f.add("entries", &r.entries, "a line for each entry: a phrase and its translation").required();
  f.add("entries-format", &r.entries_format, "format of the entries", formats).required();
  return f;
}

terms::Glossary dictionary_of(const DictionaryRequest& r, const std::string& name) {
  const terms::LanguagePair pair{lower(r.source_lang), lower(r.target_lang)};
  if (language_of(pair.source, "source_lang") == language_of(pair.target, "target_lang"))
    throw field_error("target_lang", fmt::format("is the source language, {}", pair.source));
  try {
    // DeepL's form has neither headers nor comments.
    const terms::TermTable table =
        terms::read_term_table(r.entries, r.entries_format, "entries", {.header = false, .comments = false});
    terms::Glossary glossary = terms::glossary_of(table, pair);
    if (glossary.entries.empty()) throw field_error("entries", "there are none");
    glossary.name = name;
    glossary.languages = pair;
    return glossary;
  } catch (const Error& e) {
    throw HttpError(400, fmt::format("Invalid glossary entries provided: {}", e.what())).of_field("entries");
  }
}

Json described_dictionary(const terms::StoredGlossary& dictionary) {
  return {{"source_lang", dictionary.glossary.languages.source},
          {"target_lang", dictionary.glossary.languages.target},
          {"entry_count", dictionary.glossary.entries.size()}};
}

std::string creation_time(const DeeplGlossary& glossary) {
  const auto first = std::min_element(glossary.dictionaries.begin(), glossary.dictionaries.end(),
                                      [](const auto& a, const auto& b) { return a->created < b->created; });
  const std::time_t seconds = static_cast<std::time_t>((*first)->created);
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.000Z", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday,
                     utc.tm_hour, utc.tm_min, utc.tm_sec);
}

std::string entries_as_tsv(const terms::Glossary& glossary) {
  std::string text;
  for (const terms::Entry& entry : glossary.entries)
    text += (text.empty() ? "" : "\n") + entry.source + "\t" + entry.target;
  return text;
}

std::string id_in_address(const Call& call, std::string_view before) {
  const std::string rest = call.request.path.substr(before.size());
  return rest.substr(0, rest.find('/'));
}

void warn_if_not_lasting(const Service& service, Call& call) {
  if (!service.glossaries().store().is_lasting())
    call.warnings.tell("the glossary is lost when the server stops, because it has no directory for glossaries");
}

}  // namespace tril::serve
