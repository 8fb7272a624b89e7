// Continues text for OpenAI's clients:
//   POST /v1/completions   POST /v1/chat/completions   GET /v1/models
#include "serve/api/completing.h"
#include "serve/api/completion_request.h"
#include "serve/api/service.h"

namespace tril::serve {

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
                       const ModelPtr model = model_for(call, r.model, false);
                       check_room(call, *model);
                       check_texts(texts_of_prompts(body), "prompt");
                       std::vector<Prompt> prompts = prompts_of(body, *model);
                       complete(*this, call, model, std::move(r), std::move(prompts));
                     }});
  routes_.push_back(
      {.method = "POST",
       .path = "/v1/chat/completions",
       .summary = "Gives the next message of a chat",
       .request_schema = completion_schema(true),
       .response = "the choices; with stream, events of them",
       .handle = [this](const CallPtr& call) {
         check_room(call, false);
         const Json body = parse_object(call->request.body);
         CompletionRequest r = read_completion_request(body, true, call->warnings);
         const ModelPtr model = model_for(call, r.model, false);
         check_room(call, *model);
         const Json messages = messages_of(body, call->warnings);
         check_texts(texts_of_messages(messages), "messages");
         if (!model->loaded().chat)
           throw HttpError(
               400, fmt::format("model {} has no chat template; /v1/completions continues text with it", model->name()))
               .of_field("model");
         std::vector<Prompt> prompts{chat_prompt(*model, messages)};
         complete(*this, call, model, std::move(r), std::move(prompts));
       }});
  const auto described = [](const ServedModel& model) {
    Json told{{"id", model.name()},
              {"object", "model"},
              {"created", model.created()},
              {"owned_by", "tril"},
              {"translates", model.translates()}};
    if (!model.translates()) return told;
    // The choices of a request, and of the page: a model without language selection has at most one of each.
    const ServedModel::Languages& l = model.languages();
    told["sources"] = l.from_each ? l.targets : std::vector<std::string>(l.source.empty() ? 0 : 1, l.source);
    told["targets"] = l.targets;
    return told;
  };
  routes_.push_back({.method = "GET",
                     .path = "/v1/models",
                     .summary = "Lists the models that are ready",
                     .request_schema = nullptr,
                     .response = "a list of the models",
                     .handle = [this, described](const CallPtr& call) {
                       Json list = Json::array();
                       for (const ModelPtr& model : models_.ready()) {
                         list.push_back(described(*model));
                         for (const auto& each : model->with_adapters()) list.push_back(described(*each));
                       }
                       call->send({{"object", "list"}, {"data", std::move(list)}});
                     }});
  routes_.push_back({.method = "GET",
                     .path = "/v1/models/{model}",
                     .summary = "Describes one model",
                     .request_schema = nullptr,
                     .response = "the model",
                     .handle = [this, described](const CallPtr& call) {
                       const std::string name = call->request.path.substr(std::string_view("/v1/models/").size());
                       call->send(described(*model_for(call, name, std::nullopt)));
                     }});
}

}  // namespace tril::serve
