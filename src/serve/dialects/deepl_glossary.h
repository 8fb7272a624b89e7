// Glossaries as DeepL's API has them: dictionaries of one language pair each under a common id. Each dictionary is a glossary of the
// server's store (terms/glossary_store.h), all with the group of the first one.
#pragma once

#include <string>
#include <vector>

#include "serve/api/service.h"

namespace tril::serve {

/// A glossary of version 3; one with a single dictionary is also a glossary of version 2.
struct DeeplGlossary {
  std::string id;                                      ///< StoredGlossary::group_id(), a random UUID
  std::vector<terms::StoredGlossaryPtr> dictionaries;  ///< at least one, by source_lang and target_lang

  const std::string& name() const { return dictionaries.front()->glossary.name; }
};

/// All glossaries that the call's key sees, the oldest first.
std::vector<DeeplGlossary> deepl_glossaries(const Service& service, const Call& call);
/// Puts its dictionaries into the order in which clients see them.
void sort_dictionaries(DeeplGlossary& glossary);
/// The glossary with this id. @throws HttpError (404) if there is none, or it is another key's
DeeplGlossary deepl_glossary(const Service& service, const Call& call, const std::string& id);

/// The fields of a translation request that name glossaries.
struct GlossaryChoice {
  std::string glossary_id;
  std::vector<std::string> glossary_ids;  ///< also several in one text, with commas between them
  std::string source_lang, target_lang;
};
/// The names for TranslateRequest::glossary: of each glossary the dictionary that serves the languages best. A glossary of the operator
/// is found by its name. Empty if no glossary is asked for.
/// @throws HttpError (400) without a source language, for more than five glossaries, or for one without a dictionary for the languages;
/// (404) for an unknown glossary
std::vector<std::string> chosen_glossaries(const Service& service, const Call& call, const GlossaryChoice& choice);

/// A dictionary in a request. The fields are those of POST /v2/glossaries without the name.
struct DictionaryRequest {
  std::string source_lang, target_lang, entries;
  terms::TableFormat entries_format = terms::TableFormat::tsv;
};
Fields fields_of(DictionaryRequest& r);
/// Its entries and languages; `name` is that of the glossary. @throws HttpError (400)
terms::Glossary dictionary_of(const DictionaryRequest& r, const std::string& name);

/// {"source_lang", "target_lang", "entry_count"}
Json described_dictionary(const terms::StoredGlossary& dictionary);
/// "2026-11-27T23:25:32.000Z"
std::string creation_time(const DeeplGlossary& glossary);
/// A line for each entry: source, tab, target.
std::string entries_as_tsv(const terms::Glossary& glossary);
/// The part of the address behind `before`, up to the next slash.
std::string id_in_address(const Call& call, std::string_view before);
/// Warns that the glossary is lost when the server stops, if the server has no directory for glossaries.
void warn_if_not_lasting(const Service& service, Call& call);

}  // namespace tril::serve
