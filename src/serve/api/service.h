// The server's core: the table of its routes, authorisation, error answers, the access log (service.cpp), and the way to the models
// (service_work.cpp). The routes themselves
// are in separate files: *_api.cpp, page.cpp, and those of other APIs in serve/dialects.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "serve/api/documents.h"
#include "serve/api/error_answer.h"
#include "serve/api/error_style.h"
#include "serve/api/language_graph.h"
#include "serve/api/operations.h"
#include "serve/api/request_fields.h"
#include "serve/api/request_rates.h"
#include "serve/api/term_sources.h"
#include "serve/api/usage.h"
#include "serve/engine/metrics.h"
#include "serve/engine/models.h"
#include "serve/engine/side_worker.h"
#include "serve/http/http.h"
#include "serve/http/http_error.h"
#include "serve/http/http_server.h"
#include "serve/http/noted_responder.h"
#include "serve/http/origins.h"

namespace tril::serve {

struct Keys {
  std::vector<std::string> api;    ///< a request needs one of them; empty: requests need no key
  std::vector<std::string> admin;  ///< may load and unload models; empty: nobody may
  /// By key: how many characters it may have translated (Usage). Keys that are not in it have no limit.
  std::map<std::string, std::int64_t> most_characters = {};
  /// By key: how many requests it may send. For other keys, and requests without one, see ServiceOptions::most_requests.
  std::map<std::string, RequestLimits> most_requests = {};
};

struct ServiceOptions {
  Keys keys;
  OriginOptions origins;
  bool log_texts = false;  ///< whether the access log contains request texts
  /// Writes a line of the access log, without its line end; empty: no log.
  std::function<void(const std::string& line)> log;
  UnknownFields unknown_fields = UnknownFields::warn;       ///< in requests
  std::size_t most_body_bytes = std::size_t{4} << 20;       ///< of a request's unpacked body
  RequestLimits most_requests;                              ///< of each client but administrators
  double request_seconds = 120;                             ///< after which a request's decoding is cut off
  std::size_t most_texts = 256, most_characters = 200'000;  ///< per request
  PivotOptions pivots;
  DocumentLimits documents;
  std::string suggestions_file;  ///< of POST /suggest; "": suggestions are not taken
  std::uint64_t most_suggestion_bytes = std::uint64_t{64} << 20;
  std::string usage_file;  ///< of the characters that each key has had translated; "": they are counted from 0
  std::int64_t most_hypotheses = 1024, most_new_tokens = 4096;
  double most_operations = serve::most_operations;  ///< of a trace or a search; for a class also of scores
  bool classroom = false;  ///< only the page that shows a pass, and what it asks; see for_classroom() (classroom.h)
  int side_threads = 1;    ///< for scores, traces and searches beside decoding
  std::shared_ptr<terms::GlossaryLibrary> glossaries = std::make_shared<terms::GlossaryLibrary>();
  std::shared_ptr<const ServedMemories> memories = std::make_shared<ServedMemories>();
};

/// The client and the model of a call. Separate, since the access log may outlive the call.
struct CallIdentity {
  std::string client;               ///< for fair scheduling: "key-2", the second of the keys, or an address
  std::string model;                ///< its name; empty: none chosen
  std::optional<std::string> body;  ///< for the access log; nothing: it is unread, or must not be logged
};

struct Route;

/// A request in progress.
struct Call {
  HttpRequest request;
  const Route* route = nullptr;            ///< null: there is none
  ErrorStyle errors = ErrorStyle::openai;  ///< of a call without a route
  std::shared_ptr<Responder> out;
  std::shared_ptr<CallIdentity> caller = std::make_shared<CallIdentity>();
  bool admin = false;
  std::string key;                                   ///< by which it was admitted; "": without one
  std::optional<std::int64_t> most_characters = {};  ///< Keys::most_characters of the key
  RequestLimits most_requests = {};
  bool is_part = false;  ///< of another call, with which its characters are counted
  bool waited = false;   ///< it waited for a model or used another: it was admitted then, and needs no room now
  Clock::time_point begun = Clock::now(), deadline;
  std::string id;     ///< also sent to the client
  Warnings warnings;  ///< included in the answer
  /// Turns the answer of POST /translate into that of another API; empty: it stays.
  std::function<Json(Json body)> shape;
  std::function<void()> on_success = {};  ///< called once the answer is complete and no error

  const std::string& client() const { return caller->client; }
  /// Names the key in Usage, regardless of its line in the file of keys; "" without a key.
  std::string account() const;
  /// Names the client in RequestRates.
  std::string rate_name() const;
  void send(Json body, int status = 200) {
    if (on_success && status == 200) on_success();
    if (shape && status == 200) body = shape(std::move(body));
    warnings.put_into(body);
    Headers headers;
    if (!body.is_object())
      if (std::string text = warnings.header(); !text.empty()) headers.emplace_back("X-Tril-Warnings", std::move(text));
    out->send({.status = status,
               .content_type = json_type(errors),
               .body = json_text(body) + "\n",
               .headers = std::move(headers)});
  }
};
using CallPtr = std::shared_ptr<Call>;

struct Route {
  std::string method;
  std::string path;  ///< {name} stands for any text: the last one also for a text with slashes
  std::string summary;
  Json request_schema;   ///< of the body; null: no body
  std::string response;  ///< a description of the answer
  std::function<void(const CallPtr&)> handle;
  ErrorStyle errors = ErrorStyle::openai;
  enum class Who : std::uint8_t { anybody, keyholders, admins } who = Who::keyholders;
  std::string response_type = "application/json";
  bool takes_file = false;  ///< in a multipart form, whose size is limited by Service::most_upload_bytes()
  Json query_schema =
      nullptr;  ///< of the fields in the address; null: there are none, or those of the body may stand there
  /// Another path of the route; it counts only for requests with the field `alias_field` in their address, if that is not empty.
  std::string alias = {}, alias_field = {};
};

class Detectors;    // text_sources.h
class Suggestions;  // suggestions.h

class Service {
 public:
  /// The models must outlive this object, and take no requests after it.
  Service(const ServiceOptions& options, Models& models);
  /// Cancels all requests. No new ones may arrive.
  ~Service();

  /// For the server: answers, immediately or later.
  void handle(HttpRequest request, std::shared_ptr<Responder> responder);
  /// From now on requests get 503, and /ready reports it; accepted requests continue.
  void stop_taking() { draining_ = true; }
  /// Returns once accepted requests have ended. No new ones may arrive.
  void drain();

  /// From now on requests need one of these keys.
  void set_keys(Keys keys);
  /// Sets a source for the number of open connections, for /metrics.
  void set_connections(std::function<std::size_t()> count);

  const std::vector<Route>& routes() const { return routes_; }
  /// Adds routes of other APIs, before the first request. They are preferred to those that are known already. A server for a class has
  /// none of them.
  void add_routes(std::vector<Route> routes);
  /// The API's description in OpenAPI 3.
  Json openapi() const;
  const ServiceOptions& options() const { return options_; }
  Models& models() const { return models_; }
  Detectors& detectors() { return *detectors_; }
  Documents& documents() { return *documents_; }
  /// For HttpServerOptions::takes_uploads and upload_bytes.
  bool takes_files(std::string_view path) const;
  /// For HttpServerOptions::judge_upload: `refuse` if handle() refuses the request whatever the rest of its body is.
  UploadJudgement judge_upload(const HttpRequest& arrived) const;
  /// For HttpServerOptions::refusal: the body of an error that the server answers by itself.
  std::string refusal(std::string_view path, int status, const std::string& message) const;
  std::size_t most_upload_bytes() const;
  Usage& usage() { return *usage_; }
  /// For answers that may outlive this object.
  std::shared_ptr<Usage> shared_usage() const { return usage_; }
  terms::GlossaryLibrary& glossaries() const { return *options_.glossaries; }

  // --- for the routes ---

  /// The model with this name ("base:legal" with an adapter) or, without a name, the first that does the task (translates, or
  /// continues text). It may not be loaded yet.
  /// @throws HttpError if there is none, or it cannot be used now
  Models::Offer find_model(const std::string& name, std::optional<bool> translates) const;
  /// Runs `job` with the offered model; the job answers the call. If the model is loaded, the job runs at once. Otherwise it
  /// runs in another thread once the model is loaded, and an exception becomes the answer.
  /// @throws HttpError if it cannot be loaded now, or too many requests wait already
  using ModelJob = std::function<void(const ModelPtr& model)>;
  void with_model(const CallPtr& call, const Models::Offer& offer, ModelJob job);
  /// Both in one.
  void with_model(const CallPtr& call, const std::string& name, std::optional<bool> translates, ModelJob job) {
    with_model(call, find_model(name, translates), std::move(job));
  }
  /// Refuses a request before it is parsed if its client may queue nothing more: with any model for the task; with this model.
  /// @throws HttpError (429)
  void check_room(const CallPtr& call, bool translates) const;
  void check_room(const CallPtr& call, const ServedModel& model) const;
  /// Submits works to a model's engine (Engine::submit); if the client goes away, they are cancelled.
  /// @param begin  called once all works are accepted, before any of their callbacks; may be empty
  /// @throws HttpError if there is no room
  void submit(const CallPtr& call, const ModelPtr& model, std::vector<WorkPtr> works,
              const std::function<void()>& begin = {});
  /// Runs a longer job outside of the server's threads; an exception becomes the answer.
  void aside(const CallPtr& call, std::function<void(search::WorkerPool& worker)> job) {
    push(side_, call, std::move(job));
  }
  /// Runs a part of a request beside its works, which are submitted already. There is always room for it, and a server that stops waits
  /// for it. @param job  handles its own errors
  void beside(const CallPtr& call, std::function<void()> job);
  /// The answer to a failed call.
  static ErrorAnswer answer_to(const Call& call, const std::exception_ptr& error);
  /// Answers with the error, in the format of the call's route.
  static void fail(const CallPtr& call, const std::exception_ptr& error);
  /// Counts a request for the client's limit as `texts` requests, of which one was counted when it arrived.
  void count_texts(const Call& call, std::size_t texts);
  /// Checks the number, the size and the encoding of a field's texts. @throws HttpError (400, 413)
  void check_texts(const std::vector<std::string>& texts, const std::string& name) const;

 private:
  void push(SideWorker& worker, const CallPtr& call, std::function<void(search::WorkerPool& worker)> job);
  void add_translate_routes();
  void add_document_routes();
  void add_suggestion_routes();
  void add_language_routes();
  void add_glossary_routes();
  void add_openai_routes();
  void add_model_routes();
  void add_trace_routes();
  void add_search_routes();
  void add_status_routes();
  void keep_classroom_routes();
  const Route& route_of(const HttpRequest& request) const;
  ErrorStyle errors_at(std::string_view path) const;
  void take(const CallPtr& call, const Route& route);
  void identify(Call& call, const std::string& key) const;
  void check_rights(const Call& call, const Route& route, const std::string& key) const;
  void admit(Call& call, const Route& route, const std::string& key);
  void read_body(const CallPtr& call, const Route& route, bool key_may_follow);
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
  const std::unique_ptr<Detectors> detectors_;
  const std::shared_ptr<Usage> usage_;
  RequestRates rates_;
  std::unique_ptr<Suggestions> suggestions_;  ///< null: none are taken
  Histogram seconds_;
  const std::unique_ptr<Documents> documents_;
  SideWorker side_;
  SideWorker reading_;  ///< for large bodies (body_reading.h), also those of documents
};

/// Whether two texts are equal, in a time that does not depend on where they differ.
bool equal_in_constant_time(std::string_view a, std::string_view b);

/// "2026-11-21T22:04:05.123Z"
std::string now_as_text();

}  // namespace tril::serve
