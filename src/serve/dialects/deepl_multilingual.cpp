// Glossaries of several language pairs for DeepL's clients, with a dictionary for each pair:
//   GET and POST /v3/glossaries   GET, PATCH and DELETE /v3/glossaries/{glossary_id}
//   PUT and DELETE /v3/glossaries/{glossary_id}/dictionaries   GET /v3/glossaries/{glossary_id}/entries
#include <algorithm>

#include "base/printable.h"
#include "language/code.h"
#include "serve/api/body_reading.h"
#include "serve/api/request_terms.h"
#include "serve/dialects/deepl_glossary.h"
#include "serve/dialects/dialects.h"

namespace tril::serve {
namespace {

constexpr std::string_view multilingual_path = "/v3/glossaries/";
constexpr std::size_t most_dictionaries = 100;  // of a request

struct MultilingualRequest {
  std::string name;
};
Fields fields_of(MultilingualRequest& r) {
  Fields f;
  f.add("name", &r.name, "name of the glossary, which need not be unique");
  return f;
}
Json multilingual_schema(bool is_new) {
  Json schema = schema_of_request<MultilingualRequest>();
  schema["properties"]["dictionaries"] = {{"type", "array"}, {"items", schema_of_request<DictionaryRequest>()}};
  if (is_new) schema["required"] = {"name", "dictionaries"};
  return schema;
}

struct DictionaryPairRequest {
  std::string source_lang, target_lang;
};
Fields fields_of(DictionaryPairRequest& r) {
  Fields f;
  f.add("source-lang", &r.source_lang, "source language of the dictionary").required();
  f.add("target-lang", &r.target_lang, "target language of the dictionary").required();
  return f;
}

bool is_for(const terms::Glossary& dictionary, const terms::LanguagePair& pair) {
  return find_language(dictionary.languages.source) == find_language(pair.source) &&
         find_language(dictionary.languages.target) == find_language(pair.target);
}

Json described_glossary(const DeeplGlossary& glossary) {
  Json dictionaries = Json::array();
  for (const terms::StoredGlossaryPtr& one : glossary.dictionaries) dictionaries.push_back(described_dictionary(*one));
  return {{"glossary_id", glossary.id},
          {"name", glossary.name()},
          {"dictionaries", std::move(dictionaries)},
          {"creation_time", creation_time(glossary)}};
}

DeeplGlossary addressed_glossary(const Service& service, const Call& call) {
  return deepl_glossary(service, call, id_in_address(call, multilingual_path));
}

// The dictionary of source_lang and target_lang in the address.
terms::StoredGlossaryPtr addressed_dictionary(const Service& service, const CallPtr& call) {
  static const Json properties = schema_of_request<DictionaryPairRequest>()["properties"];
  const Json fields = fields_of_request(call->request, ErrorStyle::deepl, properties, true);
  const auto r = read_request<DictionaryPairRequest>(fields, call->warnings);
  (void)language_of(r.source_lang, "source_lang");
  (void)language_of(r.target_lang, "target_lang");
  const DeeplGlossary glossary = addressed_glossary(service, *call);
  for (const terms::StoredGlossaryPtr& one : glossary.dictionaries)
    if (is_for(one->glossary, {r.source_lang, r.target_lang})) return one;
  throw HttpError(
      404, fmt::format("Dictionary not found: {} to {}", printable(r.source_lang, 20), printable(r.target_lang, 20)));
}

// The list `dictionaries` of a request: at most one for each language pair.
std::vector<terms::Glossary> dictionaries_in(const Json& body, const std::string& name, Warnings& warnings) {
  std::vector<terms::Glossary> dictionaries;
  const auto list = body.find("dictionaries");
  if (list == body.end() || list->is_null()) return dictionaries;
  if (!list->is_array() || list->size() > most_dictionaries)
    throw field_error("dictionaries", fmt::format("expected a list of at most {} dictionaries", most_dictionaries));
  for (const Json& one : *list) {
    if (!one.is_object()) throw field_error("dictionaries", "expected a list of objects");
    terms::Glossary dictionary = dictionary_of(read_request<DictionaryRequest>(one, warnings), name);
    for (const terms::Glossary& other : dictionaries)
      if (is_for(other, dictionary.languages))
        throw field_error("dictionaries", fmt::format("two dictionaries are for {} to {}", dictionary.languages.source,
                                                      dictionary.languages.target));
    for (const std::string& note : dictionary.notes) warnings.tell(note);
    dictionaries.push_back(std::move(dictionary));
  }
  return dictionaries;
}

void create_multilingual(const Service& service, const CallPtr& call, const Json& body) {
  const auto r = read_request<MultilingualRequest>(body, call->warnings, {"dictionaries"});
  std::vector<terms::Glossary> dictionaries = dictionaries_in(body, r.name, call->warnings);
  if (dictionaries.empty()) throw field_error("dictionaries", "Glossary dictionaries must be provided");
  DeeplGlossary made;
  made.dictionaries = service.glossaries().store().add_group(std::move(dictionaries), viewer_of(*call));
  made.id = made.dictionaries.front()->id;
  sort_dictionaries(made);
  warn_if_not_lasting(service, *call);
  call->send(described_glossary(made), 201);
}

// Adds a dictionary to a glossary, whose owner may be another key if an administrator asks.
terms::StoredGlossaryPtr put_into(const Service& service, const DeeplGlossary& glossary, terms::Glossary dictionary) {
  const terms::Viewer owner{glossary.dictionaries.front()->owner};
  return service.glossaries().store().add(std::move(dictionary), owner, true, glossary.id);
}

// New entries take the place of those with the same phrase, and the others stay.
void merge_into(std::vector<terms::Glossary>& dictionaries, terms::Glossary more) {
  for (terms::Glossary& known : dictionaries) {
    if (!is_for(known, more.languages)) continue;
    const terms::Glossary* const both[] = {&more, &known};
    std::size_t left_out = 0;
    known.entries = terms::merged_entries(both, left_out);
    return;
  }
  dictionaries.push_back(std::move(more));
}

void change_multilingual(const Service& service, const CallPtr& call, const Json& body) {
  const auto r = read_request<MultilingualRequest>(body, call->warnings, {"dictionaries"});
  const DeeplGlossary glossary = addressed_glossary(service, *call);
  const std::string name = r.name.empty() ? glossary.name() : r.name;
  std::vector<terms::Glossary> more = dictionaries_in(body, name, call->warnings);
  if (more.empty() && r.name.empty()) throw field_error("name", "give a name or dictionaries");
  const auto edit = [&](std::vector<terms::Glossary>& dictionaries) {
    if (!r.name.empty())
      for (terms::Glossary& one : dictionaries) one.name = name;
    for (terms::Glossary& one : more) merge_into(dictionaries, std::move(one));
  };
  DeeplGlossary changed{glossary.id, service.glossaries().store().change_group(glossary.id, viewer_of(*call), edit)};
  if (changed.dictionaries.empty()) throw HttpError(404, "the glossary has been removed by another request");
  sort_dictionaries(changed);
  warn_if_not_lasting(service, *call);
  call->send(described_glossary(changed));
}

void put_dictionary(const Service& service, const CallPtr& call, const Json& body) {
  const auto r = read_request<DictionaryRequest>(body, call->warnings);
  const DeeplGlossary glossary = addressed_glossary(service, *call);
  terms::Glossary dictionary = dictionary_of(r, glossary.name());
  for (const std::string& note : dictionary.notes) call->warnings.tell(note);
  const terms::StoredGlossaryPtr stored = put_into(service, glossary, std::move(dictionary));
  warn_if_not_lasting(service, *call);
  call->send(described_dictionary(*stored));
}

void remove_dictionary(const Service& service, const CallPtr& call) {
  service.glossaries().store().remove(addressed_dictionary(service, call)->id, viewer_of(*call));
  call->out->send({.status = 204, .content_type = ""});
}

void remove_multilingual(const Service& service, const CallPtr& call) {
  service.glossaries().store().remove_group(addressed_glossary(service, *call).id, viewer_of(*call));
  call->out->send({.status = 204, .content_type = ""});
}

void send_entries(const Service& service, const CallPtr& call) {
  const terms::StoredGlossaryPtr dictionary = addressed_dictionary(service, call);
  const terms::Glossary& glossary = dictionary->glossary;
  call->send({{"dictionaries", Json::array({{{"source_lang", glossary.languages.source},
                                             {"target_lang", glossary.languages.target},
                                             {"entries", entries_as_tsv(glossary)},
                                             {"entries_format", "tsv"}}})}});
}

void list_multilingual(const Service& service, const CallPtr& call) {
  Json glossaries = Json::array();
  for (const DeeplGlossary& one : deepl_glossaries(service, *call)) glossaries.push_back(described_glossary(one));
  call->send({{"glossaries", std::move(glossaries)}});
}

// Reads the body, and works outside of the server's threads.
using BodyJob = void (*)(const Service&, const CallPtr&, const Json&);
std::function<void(const CallPtr&)> with_body(Service& service, BodyJob job) {
  return [&service, job](const CallPtr& call) {
    Json body = fields_of_request(call->request, ErrorStyle::deepl, Json::object(), false);
    service.aside(call,
                  [&service, job, call, body = std::move(body)](search::WorkerPool&) { job(service, call, body); });
  };
}

std::vector<Route> dictionary_routes(Service& service) {
  const Json pair = schema_of_request<DictionaryPairRequest>();
  return {{.method = "PUT",
           .path = "/v3/glossaries/{glossary_id}/dictionaries",
           .summary = "Adds a dictionary to a glossary, or replaces the one of the same languages",
           .request_schema = schema_of_request<DictionaryRequest>(),
           .response = "source_lang, target_lang, entry_count",
           .handle = with_body(service, put_dictionary),
           .errors = ErrorStyle::deepl},
          {.method = "DELETE",
           .path = "/v3/glossaries/{glossary_id}/dictionaries",
           .summary = "Removes a dictionary of a glossary; removing the last one removes the glossary",
           .request_schema = nullptr,
           .response = "nothing, with status 204",
           .handle = [&service](const CallPtr& call) { remove_dictionary(service, call); },
           .errors = ErrorStyle::deepl,
           .query_schema = pair},
          {.method = "GET",
           .path = "/v3/glossaries/{glossary_id}/entries",
           .summary = "The entries of a dictionary",
           .request_schema = nullptr,
           .response = "dictionaries, a list of one: source_lang, target_lang, entries, entries_format (tsv)",
           .handle = [&service](const CallPtr& call) { send_entries(service, call); },
           .errors = ErrorStyle::deepl,
           .query_schema = pair}};
}

}  // namespace

void add_deepl_multilingual_routes(Service& service) {
  std::vector<Route> routes = dictionary_routes(service);  // before the shorter paths
  routes.push_back({.method = "POST",
                    .path = "/v3/glossaries",
                    .summary = "Creates a glossary with a dictionary for each language pair, as DeepL does",
                    .request_schema = multilingual_schema(true),
                    .response = "glossary_id, name, creation_time, and dictionaries with their entry_count",
                    .handle = with_body(service, create_multilingual),
                    .errors = ErrorStyle::deepl});
  routes.push_back({.method = "GET",
                    .path = "/v3/glossaries",
                    .summary = "Lists the key's glossaries",
                    .request_schema = nullptr,
                    .response = "glossaries, each as the answer to its creation",
                    .handle = [&service](const CallPtr& call) { list_multilingual(service, call); },
                    .errors = ErrorStyle::deepl});
  routes.push_back(
      {.method = "GET",
       .path = "/v3/glossaries/{glossary_id}",
       .summary = "A glossary, without its entries",
       .request_schema = nullptr,
       .response = "as the answer to its creation",
       .handle =
           [&service](const CallPtr& call) { call->send(described_glossary(addressed_glossary(service, *call))); },
       .errors = ErrorStyle::deepl});
  routes.push_back({.method = "PATCH",
                    .path = "/v3/glossaries/{glossary_id}",
                    .summary = "Renames a glossary, and adds entries to its dictionaries",
                    .request_schema = multilingual_schema(false),
                    .response = "as the answer to its creation",
                    .handle = with_body(service, change_multilingual),
                    .errors = ErrorStyle::deepl});
  routes.push_back({.method = "DELETE",
                    .path = "/v3/glossaries/{glossary_id}",
                    .summary = "Removes a glossary with all its dictionaries",
                    .request_schema = nullptr,
                    .response = "nothing, with status 204",
                    .handle = [&service](const CallPtr& call) { remove_multilingual(service, call); },
                    .errors = ErrorStyle::deepl});
  service.add_routes(std::move(routes));
}

}  // namespace tril::serve
