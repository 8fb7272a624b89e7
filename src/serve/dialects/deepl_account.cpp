// What DeepL's clients ask besides translations:
//   GET and POST /v2/languages   GET and POST /v2/usage
#include <set>

#include "language/name.h"
#include "serve/api/body_reading.h"
#include "serve/api/language_pairs.h"
#include "serve/dialects/dialects.h"
#include "serve/dialects/language_codes.h"

namespace tril::serve {
namespace {

// DeepL's number for accounts without a limit.
constexpr std::int64_t no_limit = 1'000'000'000'000;

struct LanguagesRequest {
  std::string type = "source";
};
Fields fields_of(LanguagesRequest& r) {
  Fields f;
  f.add("type", &r.type, "whether source or target languages are listed").choices({"source", "target"});
  return f;
}

// DeepL's clients ask for a variant of English and Portuguese as targets, and refuse the language itself.
std::vector<std::string> deepl_targets(const std::string& code) {
  if (code == "en") return {"en-GB", "en-US"};
  if (code == "pt") return {"pt-BR", "pt-PT"};
  return {code};
}

Json described(const std::string& code) {
  const std::optional<Language> language = find_language(code);
  return {{"language", deepl_code(code)}, {"name", language ? language_name(*language, "en") : code}};
}

Json source_languages(const Service& service) {
  std::set<std::string> codes;
  for (const auto& [source, targets] : language_pairs(service.models(), service.options().pivots))
    if (source != unknown_language && !targets.empty()) codes.insert(deepl_source_code(source));
  Json list = Json::array();
  for (const std::string& code : codes) list.push_back(described(code));
  return list;
}

// Whether some model that translates into the language has a place for a style.
bool has_formality(const Service& service, const std::string& code) {
  for (const Models::Offer& model : service.models().offers())
    if (model.profile->takes_style && model.profile->languages.into.find(code)) return true;
  return false;
}

Json target_languages(const Service& service) {
  std::set<std::string> codes;
  for (const auto& [source, targets] : language_pairs(service.models(), service.options().pivots))
    for (const std::string& target : targets)
      for (const std::string& code : deepl_targets(target)) codes.insert(code);
  Json list = Json::array();
  for (const std::string& code : codes) {
    list.push_back(described(code));
    list.back()["supports_formality"] = has_formality(service, code);
  }
  return list;
}

// The fields of a request without required ones: in the address, in a form or in a JSON body, which may be empty.
template <class Request>
Request read_from_anywhere(const CallPtr& call) {
  static const Json properties = schema_of_request<Request>()["properties"];
  const Json body = fields_of_request(call->request, ErrorStyle::deepl, properties, true);
  return read_request<Request>(body, call->warnings);
}

}  // namespace

void add_deepl_account_routes(Service& service) {
  std::vector<Route> routes;
  for (const char* method : {"GET", "POST"}) {
    const bool get = method == std::string_view("GET");
    const Json fields = schema_of_request<LanguagesRequest>();
    routes.push_back({.method = method,
                      .path = "/v2/languages",
                      .summary = "Lists the source or target languages, as DeepL does",
                      .request_schema = get ? Json(nullptr) : fields,
                      .response = "a list of languages with their names; supports_formality of target languages",
                      .handle =
                          [&service](const CallPtr& call) {
                            const auto r = read_from_anywhere<LanguagesRequest>(call);
                            call->send(r.type == "target" ? target_languages(service) : source_languages(service));
                          },
                      .errors = ErrorStyle::deepl,
                      .query_schema = fields});
    routes.push_back({.method = method,
                      .path = "/v2/usage",
                      .summary = "Counts the characters that the key has had translated",
                      .request_schema = nullptr,
                      .response = "character_count, and the key's character_limit; 10^12: there is none",
                      .handle =
                          [&service](const CallPtr& call) {
                            call->send({{"character_count", service.usage().characters_of(call->account())},
                                        {"character_limit", call->most_characters.value_or(no_limit)}});
                          },
                      .errors = ErrorStyle::deepl});
  }
  service.add_routes(std::move(routes));
}

}  // namespace tril::serve
