// What the server answers: the table of its routes, who may ask, how errors are told, and the log of who asked what. The
// routes themselves are in files of their own (translate_api.cpp, language_api.cpp, openai_api.cpp,
// model_api.cpp, status_api.cpp).
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "serve/api/request_fields.h"
#include "serve/engine/metrics.h"
#include "serve/engine/models.h"
#include "serve/engine/side_worker.h"
#include "serve/http/http.h"
#include "serve/http/http_error.h"
#include "serve/http/noted_responder.h"
#include "serve/http/origins.h"

namespace tril::serve {

struct Keys {
  std::vector<std::string> api;    ///< one of them must come with a request; none: anybody may ask
  std::vector<std::string> admin;  ///< who may load and unload models; none: nobody
};

struct ServiceOptions {
  Keys keys;
  OriginOptions origins;
  bool log_texts = false;  ///< whether the access log holds what was asked
  /// A line of the access log, without its end; empty: none is kept.
  std::function<void(const std::string& line)> log;
  UnknownFields unknown_fields = UnknownFields::warn;       ///< of a request
  std::size_t most_body_bytes = std::size_t{4} << 20;       ///< of a request's body once it is unpacked
  double request_seconds = 120;                             ///< then what is decoded for a request is cut
  std::size_t most_texts = 256, most_characters = 200'000;  ///< of a request
  std::int64_t most_hypotheses = 1024, most_new_tokens = 4096;
};

/// Who asks and what answers. The access log tells it when the call may be gone.
struct CallIdentity {
  std::string client;  ///< whose turn it is: "key-2", the second of the keys, or an address
  std::string model;   ///< its name; empty: none was chosen
  std::optional<std::string>
      body;  ///< as the log may have it, once it was read; nothing: it was not, or is not for the log
};

/// One request on its way through the service.
struct Call {
  HttpRequest request;
  std::shared_ptr<Responder> out;
  std::shared_ptr<CallIdentity> caller = std::make_shared<CallIdentity>();
  bool admin = false;
  Clock::time_point begun = Clock::now(), deadline;
  std::string id;     ///< also told to whoever asked
  Warnings warnings;  ///< what the answer tells besides

  const std::string& client() const { return caller->client; }
  void send(Json body, int status = 200) {
    warnings.put_into(body);
    out->send({.status = status, .body = json_text(body) + "\n"});
  }
};
using CallPtr = std::shared_ptr<Call>;

/// How errors of a route look.
enum class ErrorStyle : std::uint8_t { openai, libretranslate };

struct Route {
  std::string method, path, summary;
  Json request_schema;   ///< of the body; null: it has none
  std::string response;  ///< what comes back, in words
  std::function<void(const CallPtr&)> handle;
  ErrorStyle errors = ErrorStyle::openai;
  enum class Who : std::uint8_t { anybody, keyholders, admins } who = Who::keyholders;
  std::string response_type = "application/json";
};

class Service {
 public:
  /// The models must outlive it.
  Service(const ServiceOptions& options, Models& models);
  ~Service();

  /// For the server: answers, now or later.
  void handle(HttpRequest request, std::shared_ptr<Responder> responder);
  /// From now on requests get 503, and /ready says so; those that were taken go on.
  void stop_taking() { draining_ = true; }
  /// Returns once what goes on has ended. Nothing more may be taken.
  void drain();

  /// Requests from now on need one of these.
  void set_keys(Keys keys);
  /// Who knows how many connections are open, for /metrics.
  void set_connections(std::function<std::size_t()> count);

  const std::vector<Route>& routes() const { return routes_; }
  /// The API's description in OpenAPI 3.
  Json openapi() const;
  const ServiceOptions& options() const { return options_; }
  Models& models() { return models_; }

  // --- for the routes ---

  /// The model of this name, or, without one, the first that does what is asked (translates, or continues text).
  /// @throws HttpError where there is none, or it is not ready
  ModelPtr find_model(const std::string& name, std::optional<bool> translates) const;
  /// The same, which is going to answer the call.
  ModelPtr model_for(const CallPtr& call, const std::string& name, std::optional<bool> translates) const;
  /// Refuses, before it is read, a request whose client can have nothing more waiting: with any model that translates, or
  /// continues text; with this one. @throws HttpError (429)
  void check_room(const CallPtr& call, bool translates) const;
  void check_room(const CallPtr& call, const ServedModel& model) const;
  /// Gives works to a model's engine (portions.h); a request that goes away cancels them.
  /// @param begin  called once all of them are taken, and before anything is told of one of them; may be empty
  /// @throws HttpError where there is no room
  void submit(const CallPtr& call, const ModelPtr& model, std::vector<WorkPtr> works,
              const std::function<void()>& begin = {});
  /// Does something longer than a moment away from the server's threads; what it throws is the answer.
  void aside(const CallPtr& call, std::function<void(search::WorkerPool& worker)> job) {
    push(side_, call, std::move(job));
  }
  /// Answers with what went wrong.
  void fail(const CallPtr& call, const std::exception_ptr& error) const;
  void check_texts(const std::vector<std::string>& texts, const std::string& name) const;

 private:
  void push(SideWorker& worker, const CallPtr& call, std::function<void(search::WorkerPool& worker)> job);
  void add_translate_routes();
  void add_language_routes();
  void add_openai_routes();
  void add_model_routes();
  void add_status_routes();
  const Route& route_of(const HttpRequest& request) const;
  void take(const CallPtr& call, const Route& route);
  void authorise(Call& call, const Route& route, const std::string& key) const;
  std::shared_ptr<const Keys> keys_now() const;
  ServerNumbers numbers() const;
  std::string begun_line(const HttpRequest& request, const std::string& id) const;
  void note(const std::string& route, std::string line, const CallIdentity& caller, const Answered& answered);

  ServiceOptions options_;
  Models& models_;
  std::vector<Route> routes_;
  std::atomic<bool> draining_ = false;
  std::atomic<std::size_t> requests_ = 0;
  std::string run_id_;
  mutable std::mutex mutex_;
  std::shared_ptr<const Keys> keys_;                              ///< guarded by mutex_
  std::map<std::pair<std::string, int>, std::uint64_t> answers_;  ///< by route and status; guarded by mutex_
  std::function<std::size_t()> connections_;                      ///< guarded by mutex_
  Histogram seconds_;
  SideWorker side_;
  SideWorker reading_;  ///< of large bodies (body_reading.h)
};

/// Whether two texts are the same, in a time that tells nothing of where they differ.
bool equal_in_constant_time(std::string_view a, std::string_view b);

/// "2026-11-21T22:04:05.123Z"
std::string now_as_text();

}  // namespace tril::serve
