// The routes that LibreTranslate's clients query first:
//   GET /languages   POST /detect   GET /frontend/settings
#include <algorithm>
#include <map>

#include "serve/api/service.h"

namespace tril::serve {
namespace {

// BCP 47's code for an unknown language.
constexpr const char* unknown_language = "und";

struct DetectRequest {
  std::string q;
};
Fields fields_of(DetectRequest& r) {
  Fields f;
  f.add("q", &r.q, "a text").required();
  return f;
}

void add(std::vector<std::string>& list, const std::vector<std::string>& more) {
  for (const std::string& one : more)
    if (std::find(list.begin(), list.end(), one) == list.end()) list.push_back(one);
}

Json languages_of(const Models& models, const PivotOptions& pivots) {
  const LanguageGraph graph(models.offers(), pivots);
  std::map<std::string, std::vector<std::string>> known;
  for (const Models::Offer& model : models.offers()) {
    if (!model.profile->translates) continue;
    const std::vector<std::string>& targets = model.profile->languages.targets;
    std::vector<std::string> sources = model.profile->languages.sources();
    if (sources.empty()) sources.push_back(unknown_language);
    for (const std::string& source : sources) {
      add(known[source], targets);
      if (source != unknown_language) add(known[source], graph.targets_of(source));
    }
    for (const std::string& target : targets) known[target];
  }
  Json list = Json::array();
  for (const auto& [code, targets] : known)
    list.push_back({{"code", code}, {"name", code == unknown_language ? "unknown" : code}, {"targets", targets}});
  return list;
}

}  // namespace

void Service::add_language_routes() {
  routes_.push_back({.method = "GET",
                     .path = "/languages",
                     .summary = "Which languages can be translated into which",
                     .request_schema = nullptr,
                     .response = "a list of languages with their targets, also those through pivots; und stands for "
                                 "the source of a model that "
                                 "does not state its source language",
                     .handle = [this](const CallPtr& call) { call->send(languages_of(models_, options_.pivots)); },
                     .errors = ErrorStyle::libretranslate});

  // Clients take the first language of the answer for the text's language, so the list is empty.
  routes_.push_back(
      {.method = "POST",
       .path = "/detect",
       .summary = "Language detection is not supported: the answer is always an error that lists the languages",
       .request_schema = schema_of_request<DetectRequest>(),
       .response = "never",
       .handle =
           [this](const CallPtr& call) {
             const Json body = body_of(call->request);
             if (!body.contains("q") || !body["q"].is_string())
               throw HttpError(400, "Invalid request: missing q parameter").of_field("q");
             read_request<DetectRequest>(body, call->warnings);
             std::vector<std::string> sources;
             for (const Models::Offer& model : models_.offers())
               if (model.profile->translates) add(sources, model.profile->languages.sources());
             throw HttpError(501, fmt::format("language detection is not supported; the models read: {}",
                                              sources.empty() ? "languages that they do not name"
                                                              : fmt::format("{}", fmt::join(sources, ", "))));
           },
       .errors = ErrorStyle::libretranslate});

  routes_.push_back({.method = "GET",
                     .path = "/frontend/settings",
                     .summary = "Settings for web pages, as LibreTranslate gives them",
                     .request_schema = nullptr,
                     .response = "limits, and the languages of the first model if it has only one pair",
                     .handle =
                         [this](const CallPtr& call) {
                           Json source{{"code", ""}, {"name", ""}}, target = source;
                           const auto only = [](const std::vector<std::string>& list, Json& told) {
                             if (list.size() == 1) told = {{"code", list[0]}, {"name", list[0]}};
                           };
                           for (const Models::Offer& model : models_.offers()) {
                             if (!model.profile->translates) continue;
                             only(model.profile->languages.sources(), source);
                             only(model.profile->languages.targets, target);
                             break;
                           }
                           const bool keys = !keys_now()->api.empty();
                           call->send({{"apiKeys", keys},
                                       {"charLimit", options_.most_characters},
                                       {"filesTranslation", false},
                                       {"frontendTimeout", 500},
                                       {"keyRequired", keys},
                                       {"language", {{"source", source}, {"target", target}}},
                                       {"suggestions", false},
                                       {"supportedFilesFormat", Json::array()}});
                         },
                     .errors = ErrorStyle::libretranslate});
}

}  // namespace tril::serve
