// Google's Cloud Translation API, version 2 (Basic) [cloud.google.com/translate/docs/reference/rest/v2]:
//   GET and POST /language/translate/v2, /language/translate/v2/languages, /language/translate/v2/detect
#include <algorithm>
#include <cmath>

#include "language/name.h"
#include "serve/api/body_reading.h"
#include "serve/api/translate_api.h"
#include "serve/dialects/dialects.h"
#include "serve/dialects/language_codes.h"

namespace tril::serve {
namespace {

struct GoogleRequest {
  std::vector<std::string> q;
  std::string target, source, format = "html", model;
};
Fields fields_of(GoogleRequest& r) {
  Fields f;
  f.add("q", &r.q, "a text or a list of texts to translate").required();
  f.add("target", &r.target, "target language, by its code in any form").required();
  f.add("source", &r.source,
        "source language, likewise; unset: the only possible one, or else it is detected, for each text");
  f.add("format", &r.format, "html, whose markup is kept, or text").choices({"html", "text"});
  f.add("model", &r.model, "name of the model; unset, nmt or base: one for these languages");
  return f;
}

struct GoogleLanguagesRequest {
  std::string target, model;
};
Fields fields_of(GoogleLanguagesRequest& r) {
  Fields f;
  f.add("target", &r.target, "the language of the names; unset: there are no names");
  f.add("model", &r.model, "has no effect: the languages of all models are listed");
  return f;
}

struct GoogleDetectRequest {
  std::vector<std::string> q;
};
Fields fields_of(GoogleDetectRequest& r) {
  Fields f;
  f.add("q", &r.q, "a text or a list of texts").required();
  return f;
}

// The fields of a request: those of its body, and those of its address, which count beside a JSON body too. Google's clients add
// parameters that have nothing to do with translation.
template <class Request>
Request read_google_request(const CallPtr& call) {
  static const Json properties = schema_of_request<Request>()["properties"];
  Json body = fields_of_request(call->request, ErrorStyle::google, properties, true);
  for (const char* name : {"prettyPrint", "alt", "fields", "quotaUser", "userIp", "callback", "cid"}) body.erase(name);
  return read_request<Request>(body, call->warnings);
}

std::string model_of(const std::string& name) {
  return name == "nmt" || name == "base" || name.ends_with("/nmt") ? "" : name;
}

// Turns the response of POST /translate into Google's.
Json google_translations(const Json& body, const std::string& model) {
  Json list = Json::array();
  const auto detected = body.find("detectedLanguage");
  for (std::size_t i = 0; i < body["translatedText"].size(); ++i) {
    Json one{{"translatedText", body["translatedText"][i]}};
    if (detected != body.end())
      one["detectedSourceLanguage"] = google_code((*detected)[i]["language"].get<std::string>());
    if (!model.empty()) one["model"] = model;
    list.push_back(std::move(one));
  }
  return {{"data", {{"translations", std::move(list)}}}};
}

void translate_for_google(Service& service, const CallPtr& call) {
  service.check_room(call, true);
  const auto g = read_google_request<GoogleRequest>(call);
  service.check_texts(g.q, "q");
  Json body{{"q", g.q}, {"source", g.source}, {"target", g.target}, {"format", g.format}, {"model", model_of(g.model)}};
  TranslateRequest r = read_translate_request(body, call->warnings);
  call->shape = [model = g.model](const Json& answer) { return google_translations(answer, model); };
  translate(service, call, std::move(r), std::move(body));
}

void list_languages_for_google(Service& service, const CallPtr& call) {
  const auto g = read_google_request<GoogleLanguagesRequest>(call);
  Json list = Json::array();
  for (const std::string& code : all_codes(service)) {
    list.push_back({{"language", google_code(code)}});
    if (g.target.empty()) continue;
    const std::optional<Language> language = find_language(code);
    list.back()["name"] = language ? language_name(*language, preferred_locale(g.target)) : code;
  }
  call->send({{"data", {{"languages", std::move(list)}}}});
}

void detect_for_google(Service& service, const CallPtr& call) {
  const auto g = read_google_request<GoogleDetectRequest>(call);
  service.check_texts(g.q, "q");
  Json list = Json::array();
  for (const std::string& text : g.q) {
    const std::vector<CodeGuess> guesses = guesses_for(service, text);
    const CodeGuess best = guesses.empty() ? CodeGuess{unknown_language, 0, false} : guesses.front();
    list.push_back(Json::array({Json{{"language", google_code(best.code)},
                                     {"confidence", std::round(best.confidence) / 100},
                                     {"isReliable", best.confidence >= least_confidence}}}));
  }
  call->send({{"data", {{"detections", std::move(list)}}}});
}

}  // namespace

void add_google_routes(Service& service) {
  struct Kind {
    const char* path;
    const char* summary;
    const char* response;
    Json fields;
    void (*handle)(Service&, const CallPtr&);
  };
  const std::string root = "/language/translate/v2";
  const std::vector<Kind> kinds{
      {"", "Translates texts, as Google does",
       "data.translations: for each text its translatedText, and detectedSourceLanguage if there was no source",
       schema_of_request<GoogleRequest>(), translate_for_google},
      {"/languages", "Lists the languages, as Google does", "data.languages: codes, and names if there was a target",
       schema_of_request<GoogleLanguagesRequest>(), list_languages_for_google},
      {"/detect", "Detects the languages of texts, as Google does",
       "data.detections: for each text a list with its likeliest language; und: unknown",
       schema_of_request<GoogleDetectRequest>(), detect_for_google}};
  std::vector<Route> routes;
  for (const Kind& kind : kinds)
    for (const char* method : {"GET", "POST"}) {
      const bool get = method == std::string_view("GET");
      routes.push_back({.method = method,
                        .path = root + kind.path,
                        .summary = kind.summary,
                        .request_schema = get ? Json(nullptr) : kind.fields,
                        .response = kind.response,
                        .handle = [&service, handle = kind.handle](const CallPtr& call) { handle(service, call); },
                        .errors = ErrorStyle::google,
                        .query_schema = get ? kind.fields : Json(nullptr),
                        .alias = root + kind.path + "/"});
    }
  service.add_routes(std::move(routes));
}

}  // namespace tril::serve
