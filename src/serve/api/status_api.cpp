// The server's status and administration:
//   GET / (the page)   GET /health   GET /ready   GET /metrics   GET /openapi.json   POST /admin/models/load|unload|reload
#include "serve/api/page.h"
#include "serve/api/service.h"

namespace tril::serve {
namespace {

struct ModelRequest {
  std::string model;
};
Fields fields_of(ModelRequest& r) {
  Fields f;
  f.add("model", &r.model, "name of the model").required();
  return f;
}

}  // namespace

ServerNumbers Service::numbers() const {
  ServerNumbers all{.answers = {},
                    .side_waiting = side_.waiting() + reading_.waiting(),
                    .side_running = side_.running() + reading_.running()};
  std::function<std::size_t()> connections;
  {
    const std::lock_guard lock(mutex_);
    all.answers = answers_;
    connections = connections_;
  }
  if (connections) all.connections = connections();
  return all;
}

void Service::add_status_routes() {
  const auto states = [this] {
    Json models = Json::object();
    for (const Models::Status& s : models_.status())
      models[s.name] = std::string(name_of(s.state)) +
                       (s.state == Models::State::ready && !s.error.empty() ? ", but could not be loaded again" : "");
    return models;
  };
  routes_.push_back({.method = "GET",
                     .path = "/",
                     .summary = "A web page to translate, compare models, generate text and view attention",
                     .request_schema = nullptr,
                     .response = "a self-contained HTML page",
                     .handle = [](const CallPtr& call) { call->out->send(web_page()); },
                     .who = Route::Who::anybody,
                     .response_type = "text/html"});
  // Liveness: whether the process works, for a supervisor that restarts it.
  routes_.push_back(
      {.method = "GET",
       .path = "/health",
       .summary = "Whether the server is up: 503 while models are loaded for the first time",
       .request_schema = nullptr,
       .response = "the state of each model",
       .handle =
           [this, states](const CallPtr& call) {
             const bool loading = models_.loading();
             call->send({{"status", loading ? "loading" : "ok"}, {"models", states()}}, loading ? 503 : 200);
           },
       .who = Route::Who::anybody});
  // Readiness: whether requests should be sent here, for a load balancer.
  routes_.push_back({.method = "GET",
                     .path = "/ready",
                     .summary = "Whether requests are taken: 503 while models are loaded, and before the server stops",
                     .request_schema = nullptr,
                     .response = "the state of each model",
                     .handle =
                         [this, states](const CallPtr& call) {
                           bool ready = !draining_ && !models_.loading();
                           for (const Models::Status& s : models_.status()) ready &= s.state != Models::State::failed;
                           call->send({{"ready", ready}, {"models", states()}}, ready ? 200 : 503);
                         },
                     .who = Route::Who::anybody});
  routes_.push_back({.method = "GET",
                     .path = "/metrics",
                     .summary = "Metrics for Prometheus",
                     .request_schema = nullptr,
                     .response = "text in the Prometheus format",
                     .handle =
                         [this](const CallPtr& call) {
                           call->out->send({.content_type = "text/plain; version=0.0.4; charset=utf-8",
                                            .body = metrics_text(models_.status(), numbers(), seconds_)});
                         },
                     .response_type = "text/plain"});
  routes_.push_back({.method = "GET",
                     .path = "/openapi.json",
                     .summary = "This OpenAPI description",
                     .request_schema = nullptr,
                     .response = "OpenAPI 3",
                     .handle = [this](const CallPtr& call) { call->send(openapi()); },
                     .who = Route::Who::anybody});
  const auto admin = [&](const std::string& what, const std::string& summary,
                         std::function<bool(const std::string&)> act) {
    routes_.push_back({.method = "POST",
                       .path = "/admin/models/" + what,
                       .summary = summary,
                       .request_schema = schema_of_request<ModelRequest>(),
                       .response = "the state of each model",
                       .handle =
                           [act = std::move(act), states](const CallPtr& call) {
                             const auto r =
                                 read_request<ModelRequest>(parse_object(call->request.body), call->warnings);
                             if (!act(r.model))
                               throw HttpError(404, "there is no such model, or it is not loaded").of_field("model");
                             call->send({{"models", states()}}, 202);
                           },
                       .who = Route::Who::admins});
  };
  // Only models that the server was started with: no path comes from a request.
  const auto load = [this](const std::string& name) { return !name.empty() && models_.reload(name); };
  admin("load", "Loads a model that was unloaded", load);
  admin("reload", "Loads a model's directory again; the old model serves until then", load);
  admin("unload", "Unloads a model and frees its memory",
        [this](const std::string& name) { return models_.unload(name); });
}

}  // namespace tril::serve
