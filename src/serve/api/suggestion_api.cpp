// The further routes of LibreTranslate:
//   POST /suggest   GET /spec
#include "serve/api/model_choice.h"
#include "serve/api/suggestions.h"

namespace tril::serve {
namespace {

struct SuggestRequest {
  Suggestion s;
  std::string api_key;
};
Fields fields_of(SuggestRequest& r) {
  Fields f;
  f.add("q", &r.s.text, "the text").required();
  f.add("s", &r.s.translation, "its suggested translation").required();
  f.add("source", &r.s.source, "language of the text, or auto").required();
  f.add("target", &r.s.target, "language of the translation").required();
  f.add("api-key", &r.api_key, "the key, which may also be sent in the header");
  return f;
}

Suggestion read_suggestion(const Service& service, const CallPtr& call) {
  const Json body = body_of(call->request);
  for (const char* name : {"q", "s", "source", "target"})
    if (!body.contains(name) || body[name] == "" || body[name].is_null())
      throw HttpError(400, fmt::format("Invalid request: missing {} parameter", name)).of_field(name);
  Suggestion s = read_request<SuggestRequest>(body, call->warnings, {"secret"}).s;
  service.check_texts({s.text, s.translation}, "q");
  checked_wish(service, {"", s.source, s.target});
  return s;
}

}  // namespace

void Service::add_suggestion_routes() {
  routes_.push_back({.method = "POST",
                     .path = "/suggest",
                     .summary = "Suggests a better translation, which is appended to the server's file of suggestions",
                     .request_schema = schema_of_request<SuggestRequest>(),
                     .response = "{\"success\": true}; 403 if the server takes no suggestions",
                     .handle =
                         [this](const CallPtr& call) {
                           if (!suggestions_) throw HttpError(403, "Suggestions are disabled on this server.");
                           // A disk may be slow.
                           aside(call, [this, call, s = read_suggestion(*this, call)](search::WorkerPool&) {
                             suggestions_->add(s);
                             call->send({{"success", true}});
                           });
                         },
                     .errors = ErrorStyle::libretranslate});
  routes_.push_back({.method = "GET",
                     .path = "/spec",
                     .summary = "The same description as /openapi.json, under LibreTranslate's name",
                     .request_schema = nullptr,
                     .response = "OpenAPI 3",
                     .handle = [this](const CallPtr& call) { call->send(openapi()); },
                     .errors = ErrorStyle::libretranslate,
                     .who = Route::Who::anybody});
}

}  // namespace tril::serve
