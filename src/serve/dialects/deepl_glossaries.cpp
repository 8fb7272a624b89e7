// Glossaries of one language pair for DeepL's clients:
//   GET /v2/glossary-language-pairs   GET and POST /v2/glossaries   GET and DELETE /v2/glossaries/{glossary_id}
//   GET /v2/glossaries/{glossary_id}/entries
#include <set>

#include "language/name.h"
#include "serve/api/body_reading.h"
#include "serve/api/language_pairs.h"
#include "serve/api/request_terms.h"
#include "serve/dialects/deepl_glossary.h"
#include "serve/dialects/dialects.h"
#include "serve/dialects/language_codes.h"

namespace tril::serve {
namespace {

constexpr std::string_view glossaries_path = "/v2/glossaries/";

struct MonolingualRequest {
  std::string name;
  DictionaryRequest dictionary;
};
Fields fields_of(MonolingualRequest& r) {
  Fields f = fields_of(r.dictionary);
  f.add("name", &r.name, "name of the glossary, which need not be unique").required();
  return f;
}

// Pairs that a model translates directly: a last model behind pivots does not read the source's phrases.
Json glossary_pairs(const Service& service) {
  std::set<std::pair<std::string, std::string>> pairs;
  for (const auto& [source, targets] : language_pairs(service.models(), {.most = 0, .preferred = {}}))
    for (const std::string& target : targets)
      if (source != unknown_language && deepl_source_code(source) != deepl_source_code(target))
        pairs.emplace(lower(deepl_source_code(source)), lower(deepl_source_code(target)));
  Json list = Json::array();
  for (const auto& [source, target] : pairs) list.push_back({{"source_lang", source}, {"target_lang", target}});
  return {{"supported_languages", std::move(list)}};
}

Json described(const DeeplGlossary& glossary) {
  Json json = described_dictionary(*glossary.dictionaries.front());
  json["glossary_id"] = glossary.id;
  json["ready"] = true;
  json["name"] = glossary.name();
  json["creation_time"] = creation_time(glossary);
  return json;
}

DeeplGlossary monolingual(const Service& service, const Call& call) {
  DeeplGlossary glossary = deepl_glossary(service, call, id_in_address(call, glossaries_path));
  if (glossary.dictionaries.size() > 1)
    throw HttpError(400, fmt::format("the glossary has {} dictionaries; use /v3/glossaries/{}",
                                     glossary.dictionaries.size(), glossary.id));
  return glossary;
}

void create(const Service& service, const CallPtr& call, const Json& body) {
  const auto r = read_request<MonolingualRequest>(body, call->warnings);
  terms::Glossary glossary = dictionary_of(r.dictionary, r.name);
  for (const std::string& note : glossary.notes) call->warnings.tell(note);
  const auto stored = service.glossaries().store().add(std::move(glossary), viewer_of(*call), false);
  warn_if_not_lasting(service, *call);
  call->send(described({stored->id, {stored}}), 201);
}

void remove(const Service& service, const CallPtr& call) {
  const DeeplGlossary glossary = monolingual(service, *call);
  service.glossaries().store().remove(glossary.dictionaries.front()->id, viewer_of(*call));
  call->out->send({.status = 204, .content_type = ""});
}

void list(const Service& service, const CallPtr& call) {
  Json glossaries = Json::array();
  for (const DeeplGlossary& one : deepl_glossaries(service, *call))
    if (one.dictionaries.size() == 1) glossaries.push_back(described(one));
  call->send({{"glossaries", std::move(glossaries)}});
}

Route create_route(Service& service) {
  return {.method = "POST",
          .path = "/v2/glossaries",
          .summary = "Creates a glossary of one language pair, as DeepL does",
          .request_schema = schema_of_request<MonolingualRequest>(),
          .response = "glossary_id, ready, name, source_lang, target_lang, creation_time, entry_count",
          .handle =
              [&service](const CallPtr& call) {
                static const Json properties = schema_of_request<MonolingualRequest>()["properties"];
                Json body = fields_of_request(call->request, ErrorStyle::deepl, properties, false);
                service.aside(call, [&service, call, body = std::move(body)](search::WorkerPool&) {
                  create(service, call, body);
                });
              },
          .errors = ErrorStyle::deepl};
}

}  // namespace

void add_deepl_glossary_routes(Service& service) {
  service.add_routes(
      {{.method = "GET",
        .path = "/v2/glossary-language-pairs",
        .summary = "Lists the pairs of languages for glossaries, as DeepL does",
        .request_schema = nullptr,
        .response = "supported_languages: source_lang and target_lang of each pair that a model translates directly",
        .handle = [&service](const CallPtr& call) { call->send(glossary_pairs(service)); },
        .errors = ErrorStyle::deepl},
       create_route(service),
       {.method = "GET",
        .path = "/v2/glossaries",
        .summary = "Lists the key's glossaries of one language pair",
        .request_schema = nullptr,
        .response = "glossaries, each as in the response to its creation",
        .handle = [&service](const CallPtr& call) { list(service, call); },
        .errors = ErrorStyle::deepl},
       {.method = "GET",
        .path = "/v2/glossaries/{glossary_id}/entries",
        .summary = "The entries of a glossary as tab-separated values",
        .request_schema = nullptr,
        .response = "a line for each entry: phrase, tab, translation",
        .handle =
            [&service](const CallPtr& call) {
              const DeeplGlossary glossary = monolingual(service, *call);
              call->out->send({.content_type = "text/tab-separated-values; charset=utf-8",
                               .body = entries_as_tsv(glossary.dictionaries.front()->glossary)});
            },
        .errors = ErrorStyle::deepl,
        .response_type = "text/tab-separated-values"},
       {.method = "GET",
        .path = "/v2/glossaries/{glossary_id}",
        .summary = "A glossary of one language pair, without its entries",
        .request_schema = nullptr,
        .response = "as the answer to its creation",
        .handle = [&service](const CallPtr& call) { call->send(described(monolingual(service, *call))); },
        .errors = ErrorStyle::deepl},
       {.method = "DELETE",
        .path = "/v2/glossaries/{glossary_id}",
        .summary = "Removes a glossary of one language pair",
        .request_schema = nullptr,
        .response = "nothing, with status 204",
        .handle = [&service](const CallPtr& call) { remove(service, call); },
        .errors = ErrorStyle::deepl}});
}

}  // namespace tril::serve
