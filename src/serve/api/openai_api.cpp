// Continues text for OpenAI's clients:
//   POST /v1/completions   POST /v1/chat/completions   GET /v1/models
#include <cmath>

#include "serve/api/completing.h"
#include "serve/api/completion_request.h"
#include "serve/api/service.h"

namespace tril::serve {
namespace {

// A model as OpenAI's API lists it, and how it is loaded.
Json described_as(const std::string& name, const Models::Status& model) {
  Json entry{{"id", name},
             {"object", "model"},
             {"created", model.created},
             {"owned_by", "tril"},
             {"translates", model.profile->translates},
             {"continues", model.profile->continues}};
  if (model.profile->translates) {
    // The choices of a request, and of the page: a model without language selection has at most one of each.
    entry["sources"] = model.profile->languages.sources();
    entry["targets"] = model.profile->languages.targets;
    entry["codes"] = Json::object();
    for (const KnownLanguages* known : {&model.profile->languages.from, &model.profile->languages.into})
      for (std::size_t i = 0; i < known->names().size(); ++i) entry["codes"][known->names()[i]] = known->code(i);
  }
  entry["state"] = name_of(model.state);
  entry["memory_bytes"] = model.bytes;
  entry["idle_seconds"] = model.idle_seconds ? Json(std::round(*model.idle_seconds * 1e3) / 1e3) : Json(nullptr);
  entry["loads"] = model.loads;
  entry["unloads"] = model.unloads;
  return entry;
}

// A model and its adapters; none if no request may use it.
std::vector<Json> described(const Models::Status& model) {
  std::vector<Json> list;
  if (!model.offered) return list;
  list.push_back(described_as(model.name, model));
  for (const std::string& adapter : model.profile->adapters)
    list.push_back(described_as(model.name + ":" + adapter, model));
  return list;
}

}  // namespace

void Service::add_openai_routes() {
  routes_.push_back({.method = "POST",
                     .path = "/v1/completions",
                     .summary = "Continues a text",
                     .request_schema = completion_schema(false),
                     .response = "the choices; with stream, events of them",
                     .handle = [this](const CallPtr& call) {
                       check_room(call, false);
                       const Json body = parse_object(call->request.body);
                       CompletionRequest r = read_completion_request(body, false, call->warnings);
                       const Models::Offer offer = find_model(r.model, false);
                       check_texts(texts_of_prompts(body), "prompt");
                       check_texts({r.prediction.value_or("")}, "prediction");
                       with_model(call, offer, [this, call, r = std::move(r), body](const ModelPtr& model) mutable {
                         check_room(call, *model);
                         std::vector<Prompt> prompts = prompts_of(body, *model);
                         count_texts(*call, prompts.size());
                         complete(*this, call, model, std::move(r), std::move(prompts));
                       });
                     }});
  routes_.push_back({.method = "POST",
                     .path = "/v1/chat/completions",
                     .summary = "Generates the next message of a chat",
                     .request_schema = completion_schema(true),
                     .response = "the choices; with stream, events of them",
                     .handle = [this](const CallPtr& call) {
                       check_room(call, false);
                       const Json body = parse_object(call->request.body);
                       CompletionRequest r = read_completion_request(body, true, call->warnings);
                       const Models::Offer offer = find_model(r.model, false);
                       const Json messages = messages_of(body, call->warnings);
                       check_texts(texts_of_messages(messages), "messages");
                       check_texts({r.prediction.value_or("")}, "prediction");
                       with_model(call, offer, [this, call, r = std::move(r), messages](const ModelPtr& model) mutable {
                         check_room(call, *model);
                         if (!model->loaded().chat)
                           throw HttpError(
                               400, fmt::format("model {} has no chat template; /v1/completions continues text with it",
                                                model->name()))
                               .of_field("model");
                         complete(*this, call, model, std::move(r), {chat_prompt(*model, messages)});
                       });
                     }});
  routes_.push_back({.method = "GET",
                     .path = "/v1/models",
                     .summary = "Lists the models that requests may use",
                     .request_schema = nullptr,
                     .response = "a list of the models, with their languages, state, memory, and times loaded",
                     .handle = [this](const CallPtr& call) {
                       Json list = Json::array();
                       for (const Models::Status& model : models_.status())
                         for (Json& one : described(model)) list.push_back(std::move(one));
                       call->send({{"object", "list"}, {"data", std::move(list)}});
                     }});
  routes_.push_back({.method = "GET",
                     .path = "/v1/models/{model}",
                     .summary = "Describes one model",
                     .request_schema = nullptr,
                     .response = "the model",
                     .handle = [this](const CallPtr& call) {
                       const std::string name = call->request.path.substr(std::string_view("/v1/models/").size());
                       call->caller->model = find_model(name, std::nullopt).name;  // throws if there is none
                       for (const Models::Status& model : models_.status())
                         for (Json& one : described(model))
                           if (one["id"] == name) return call->send(std::move(one));
                       throw HttpError(503, fmt::format("model {} is not loaded", name), "server_error");
                     }});
}

}  // namespace tril::serve
