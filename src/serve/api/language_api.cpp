// The routes that LibreTranslate's clients query first:
//   GET or POST /languages   POST /detect   GET /frontend/settings
#include <algorithm>
#include <cmath>

#include "document/formats/formats.h"
#include "language/name.h"
#include "serve/api/language_pairs.h"
#include "serve/api/suggestions.h"
#include "serve/api/text_sources.h"

namespace tril::serve {
namespace {

struct DetectRequest {
  std::string q;
};
Fields fields_of(DetectRequest& r) {
  Fields f;
  f.add("q", &r.q, "a text").required();
  return f;
}

// The locale of names: ?locale=, or else what the browser prefers.
std::string locale_of(const HttpRequest& request) {
  const auto asked = request.query.find("locale");
  return preferred_locale(asked != request.query.end() ? asked->second
                                                       : request.header("accept-language").value_or("en"));
}

// A language by its public code, with its name in the locale and in itself.
Json described(const std::string& code, const std::string& locale) {
  if (code == unknown_language) return {{"code", code}, {"name", "unknown"}};
  const std::optional<Language> language = find_language(code);
  if (!language) return {{"code", code}, {"name", code}};
  return {{"code", code}, {"name", language_name(*language, locale)}, {"nativeName", own_name(*language)}};
}

Json languages_of(const Models& models, const PivotOptions& pivots, const std::string& locale) {
  Json list = Json::array();
  for (const auto& [code, targets] : language_pairs(models, pivots)) {
    list.push_back(described(code, locale));
    list.back()["targets"] = targets;
  }
  return list;
}

// The extensions of the files that can be translated, with their dots.
Json file_formats(const DocumentLimits& documents) {
  Json list = Json::array();
  if (documents.most_bytes == 0) return list;
  for (const document::DocumentFormat& format : document::document_formats())
    for (const std::string_view extension : format.extensions) list.push_back("." + std::string(extension));
  return list;
}

// The likeliest languages of a text, as LibreTranslate gives them. The list includes likelier languages that no model reads.
Json guesses_of(const LanguageDetector& detector, const std::string& text) {
  const Detection found = detector.detect(text);
  if (!found.has_letters) throw field_error("q", "a text without letters has no language");
  Json list = Json::array();
  const auto put = [&](const Language& language, double confidence) {
    list.push_back({{"confidence", std::round(confidence)}, {"language", code_of(language)}});
  };
  if (found.other) put(*found.other, found.other_confidence);
  for (const LanguageGuess& guess : found.guesses) put(detector.languages()[guess.language], guess.confidence);
  if (list.empty()) throw field_error("q", "the language of the text is unknown");
  return list;
}

}  // namespace

void Service::add_language_routes() {
  for (const char* method : {"GET", "POST"})  // Argos Translate's client posts
    routes_.push_back({.method = method,
                       .path = "/languages",
                       .summary =
                           "Which languages can be translated into which; names are in the language of ?locale= or "
                           "of Accept-Language",
                       .request_schema = nullptr,
                       .response = "a list of languages with their targets, also those through pivots; und stands for "
                                   "the source of a model that "
                                   "does not state its source language",
                       .handle =
                           [this](const CallPtr& call) {
                             call->send(languages_of(models_, options_.pivots, locale_of(call->request)));
                           },
                       .errors = ErrorStyle::libretranslate,
                       .who = Route::Who::anybody});
  routes_.push_back({.method = "POST",
                     .path = "/detect",
                     .summary = "Detects the language of a text, among those that the models read",
                     .request_schema = schema_of_request<DetectRequest>(),
                     .response = "a list of languages with their confidences from 0 to 100, the likeliest first",
                     .handle =
                         [this](const CallPtr& call) {
                           const Json body = body_of(call->request);
                           if (!body.contains("q") || !body["q"].is_string())
                             throw HttpError(400, "Invalid request: missing q parameter").of_field("q");
                           const DetectRequest r = read_request<DetectRequest>(body, call->warnings);
                           check_texts({r.q}, "q");
                           std::vector<Models::Offer> models = models_.offers();
                           std::erase_if(models, [](const Models::Offer& m) { return !m.profile->translates; });
                           call->send(guesses_of(*detectors_->of(possible_sources(models).codes), r.q));
                         },
                     .errors = ErrorStyle::libretranslate});

  routes_.push_back(
      {.method = "GET",
       .path = "/frontend/settings",
       .summary = "Settings for web pages, as LibreTranslate gives them",
       .request_schema = nullptr,
       .response = "limits, and the languages of the first model if it has only one pair",
       .handle =
           [this](const CallPtr& call) {
             Json source{{"code", ""}, {"name", ""}}, target = source;
             const auto only = [&](const KnownLanguages& list, Json& entry) {
               if (list.names().size() == 1) entry = described(list.code(0), locale_of(call->request));
             };
             for (const Models::Offer& model : models_.offers()) {
               if (!model.profile->translates) continue;
               only(model.profile->languages.from, source);
               only(model.profile->languages.into, target);
               break;
             }
             const bool keys = !keys_now()->api.empty();
             call->send({{"apiKeys", keys},
                         {"charLimit", options_.most_characters},
                         {"filesTranslation", options_.documents.most_bytes > 0},
                         {"frontendTimeout", 500},
                         {"keyRequired", keys},
                         {"language", {{"source", source}, {"target", target}}},
                         {"reqLimit", options_.most_requests.per_minute > 0 ? options_.most_requests.per_minute : -1},
                         {"suggestions", suggestions_ != nullptr},
                         {"supportedFilesFormat", file_formats(options_.documents)}});
           },
       .errors = ErrorStyle::libretranslate,
       .who = Route::Who::anybody});
}

}  // namespace tril::serve
