#include "serve/service.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "base/printable.h"
#include "base/version.h"
#include "serve/body_reading.h"
#include "serve/content_coding.h"
#include "serve/portions.h"
#include "text/utf8.h"

namespace tril::serve {

bool equal_in_constant_time(std::string_view a, std::string_view b) {
  unsigned difference = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < a.size(); ++i)
    difference |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b.empty() ? 1 : b[i % b.size()]);
  return difference == 0;
}

std::string now_as_text() {
  const auto now = std::chrono::system_clock::now();
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  const auto millis = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count() % 1000;
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday,
                     utc.tm_hour, utc.tm_min, utc.tm_sec, millis);
}

namespace {

// What every answer says, so that a browser makes no more of it than it is.
const Headers& security_headers() {
  static const Headers headers{{"X-Content-Type-Options", "nosniff"},
                               {"X-Frame-Options", "DENY"},
                               {"Referrer-Policy", "no-referrer"},
                               {"Cross-Origin-Opener-Policy", "same-origin"},
                               {"Cache-Control", "no-store"}};
  return headers;
}

// The key's place among these, from 1 on; 0 where it is none of them.
std::size_t place_of(const std::string& key, const std::vector<std::string>& keys) {
  std::size_t place = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) place = equal_in_constant_time(keys[i], key) ? i + 1 : place;
  return key.empty() ? 0 : place;
}

// "localhost:8080", "127.0.0.1", "[::1]:8080": names that no one else can give to this machine.
bool is_own_name(std::string_view host) {
  if (host.starts_with('[')) return true;
  const std::string name = lower(host.substr(0, host.find(':')));
  return name == "localhost" || name.ends_with(".localhost") ||
         name.find_first_not_of("0123456789.") == std::string::npos;
}

// Whether the route is for this path; one that ends in {name} is for all that have something there.
bool is_at(const Route& route, std::string_view path) {
  const std::size_t name = route.path.find('{');
  if (name == std::string::npos) return route.path == path;
  return path.size() > name && path.substr(0, name) == std::string_view(route.path).substr(0, name);
}

}  // namespace

// Adds what every answer says, and writes the access log's line when the answer is over.
class Service::Logged : public Responder {
 public:
  Logged(Service& service, std::shared_ptr<Responder> out, std::shared_ptr<const Parties> parties, Headers headers,
         std::string route, std::string line)
      : service_(service),
        out_(std::move(out)),
        parties_(std::move(parties)),
        headers_(std::move(headers)),
        route_(std::move(route)),
        line_(std::move(line)) {}
  ~Logged() override { log(); }

  void send(HttpResponse r) override {
    note(r);
    bytes_ += r.body.size();
    add(r);
    out_->send(std::move(r));
    log();
  }
  void begin(HttpResponse r) override {
    note(r);
    add(r);
    out_->begin(std::move(r));
  }
  void write(std::string_view more) override {
    bytes_ += more.size();
    out_->write(more);
  }
  void finish() override {
    out_->finish();
    log();
  }
  void on_gone(std::function<void()> f) override {
    out_->on_gone([self = weak, f = std::move(f)] {
      if (const auto here = self.lock()) here->gone_ = true;
      f();
    });
  }
  std::weak_ptr<Logged> weak;

 private:
  void note(const HttpResponse& r) { status_ = r.status; }
  void add(HttpResponse& r) const {
    for (const auto& [name, value] : headers_)
      if (std::none_of(r.headers.begin(), r.headers.end(), [&own = name](const auto& h) { return h.first == own; }))
        r.headers.emplace_back(name, value);
  }
  void log() {
    if (logged_.exchange(true)) return;
    const double seconds = std::chrono::duration<double>(Clock::now() - begun_).count();
    const int status = gone_ ? 499 : status_.load();
    {
      const std::lock_guard lock(service_.mutex_);
      ++service_.answers_[{route_, status}];
    }
    service_.seconds_.add(seconds);
    if (!service_.options_.log) return;
    if (parties_->body) line_ += ",\"body\":" + json_text(Json(*parties_->body));
    line_ += ",\"client\":" + json_text(Json(parties_->client));
    if (!parties_->model.empty()) line_ += ",\"model\":" + json_text(Json(parties_->model));
    service_.options_.log(line_ +
                          fmt::format(R"(,"status":{},"bytes":{},"seconds":{:.6f}}})", status, bytes_.load(), seconds));
  }

  Service& service_;
  std::shared_ptr<Responder> out_;
  std::shared_ptr<const Parties> parties_;  ///< as they are once the handler has given the request to somebody
  Headers headers_;
  std::string route_;
  std::string line_;  ///< the beginning of the access log's
  Clock::time_point begun_ = Clock::now();
  std::atomic<int> status_ = 500;
  std::atomic<std::size_t> bytes_ = 0;
  std::atomic<bool> gone_ = false, logged_ = false;
};

Service::Service(const ServiceOptions& options, Models& models) : options_(options), models_(models) {
  set_keys(options.keys);
  run_id_ = fmt::format("{:08x}", std::random_device()());
  add_translate_routes();
  add_language_routes();
  add_openai_routes();
  add_model_routes();
  add_status_routes();
}

Service::~Service() = default;

void Service::set_keys(Keys keys) {
  auto fresh = std::make_shared<const Keys>(std::move(keys));
  const std::lock_guard lock(mutex_);
  keys_ = std::move(fresh);
}

void Service::set_connections(std::function<std::size_t()> count) {
  const std::lock_guard lock(mutex_);
  connections_ = std::move(count);
}

std::shared_ptr<const Keys> Service::keys_now() const {
  const std::lock_guard lock(mutex_);
  return keys_;
}

void Service::drain() {
  reading_.drain();  // some of it is for the side worker and for the models yet
  side_.drain();
  models_.drain();
}

const Route& Service::route_of(const HttpRequest& request) const {
  std::string allowed;
  for (const Route& route : routes_) {
    if (!is_at(route, request.path)) continue;
    if (route.method == request.method || (request.method == "HEAD" && route.method == "GET")) return route;
    allowed += (allowed.empty() ? "" : ", ") + route.method;
  }
  if (!allowed.empty()) {
    HttpError error(405, fmt::format("{} is not for {}, but for {}", printable(request.path),
                                     printable(request.method, 20), allowed));
    error.allow = allowed;
    throw error;
  }
  throw HttpError(404, fmt::format("there is nothing at {}", printable(request.path)));
}

void Service::authorise(Call& call, const Route& route, const std::string& key) const {
  const auto keys = keys_now();
  const std::size_t admin = place_of(key, keys->admin), api = place_of(key, keys->api);
  call.admin = admin > 0;
  const bool known = admin > 0 || api > 0;
  // A client is known by its key; without one, by its address.
  if (known) call.parties->client = admin > 0 ? fmt::format("admin-key-{}", admin) : fmt::format("key-{}", api);
  if (route.who == Route::Who::admins && !call.admin)
    throw HttpError(403, "this needs the key of an administrator", "", "permission_error");
  if (route.who == Route::Who::keyholders && !keys->api.empty() && !known)
    throw HttpError(401, key.empty() ? "this needs a key: Authorization: Bearer ..." : "this key is not known", "",
                    "authentication_error");
}

Headers Service::cors_headers(const HttpRequest& request) const {
  const auto origin = request.header("origin");
  if (!origin) return {};
  // A page that may ask may bring what it likes: OpenAI's client has a dozen heads of its own.
  const std::string heads =
      request.header("access-control-request-headers").value_or("Authorization, Content-Type, X-API-Key");
  for (const std::string& allowed : options_.cors_origins)
    if (allowed == "*" || allowed == *origin)
      return {{"Access-Control-Allow-Origin", allowed == "*" ? "*" : *origin},
              {"Access-Control-Allow-Headers", heads},
              {"Access-Control-Allow-Methods", "GET, POST, OPTIONS"},
              {"Access-Control-Max-Age", "600"},
              {"Vary", "Origin"}};
  return {};
}

// A browser asks for any page that is open in it, and says for which. A name that leads to this machine's own address
// (DNS rebinding) would make another's page one of this server's, so that without keys names have to be known.
void Service::check_origin(const HttpRequest& request) const {
  const auto host = request.header("host"), origin = request.header("origin");
  const auto is_allowed = [&](std::string_view page) {
    return std::any_of(options_.cors_origins.begin(), options_.cors_origins.end(), [&](const std::string& allowed) {
      return allowed == "*" || allowed == page || std::string_view(allowed).ends_with("://" + std::string(page));
    });
  };
  if (options_.own_names_only && host && !is_own_name(*host) && !is_allowed(*host))
    throw HttpError(
        403,
        fmt::format("this server is asked by the name {}, which it does not know: name it by --cors-origins, or "
                    "have requests bring a key",
                    printable(*host)),
        "", "permission_error");
  if (!origin || is_allowed(*origin)) return;
  const std::size_t scheme = origin->find("://");
  if (!host || scheme == std::string::npos || origin->substr(scheme + 3) != *host)
    throw HttpError(403, fmt::format("pages of {} may not ask, unless --cors-origins names them", printable(*origin)),
                    "", "permission_error");
}

void Service::handle(HttpRequest request, std::shared_ptr<Responder> responder) {
  auto call = std::make_shared<Call>();
  call->warnings = Warnings(options_.unknown_fields);
  call->id = fmt::format("{}-{}", run_id_, ++requests_);
  call->deadline = call->begun + std::chrono::milliseconds(static_cast<std::int64_t>(options_.request_seconds * 1000));
  Headers headers = security_headers();
  headers.emplace_back("X-Request-Id", call->id);
  for (auto& header : cors_headers(request)) headers.push_back(std::move(header));

  std::string line;
  if (options_.log)
    line = fmt::format(R"({{"time":"{}","id":"{}","address":"{}","method":{},"path":{})", now_as_text(), call->id,
                       request.address, json_text(Json(printable(request.method, 20))),
                       json_text(Json(printable(request.path))));
  const bool preflight = request.method == "OPTIONS" && request.header("origin");
  const Route* route = nullptr;
  std::exception_ptr error;
  if (!preflight) {
    try {
      route = &route_of(request);
      check_origin(request);
    } catch (...) {
      error = std::current_exception();
    }
  }
  call->parties->client = request.address;
  call->request = std::move(request);
  const auto logged = std::make_shared<Logged>(*this, std::move(responder), call->parties, std::move(headers),
                                               route ? route->path : "other", std::move(line));
  logged->weak = logged;
  call->out = logged;
  if (preflight) return call->out->send({.status = 204, .content_type = ""});
  try {
    if (error) std::rethrow_exception(error);
    take(call, *route);
  } catch (...) {
    fail(call, std::current_exception());
  }
}

// Whom the head alone refuses is answered at once, however large the body is. Until a large body has been read for a key, its
// client is an address.
void Service::take(const CallPtr& call, const Route& route) {
  const auto keys = keys_now();
  const bool wants_key = !keys->api.empty() || !keys->admin.empty();
  const std::string key = key_of_head(call->request);
  const bool key_may_follow = wants_key && key.empty() && !call->request.body.empty();
  if (!key_may_follow) authorise(*call, route, key);
  if (draining_ && route.who != Route::Who::anybody) {
    HttpError stopping(503, "the server is about to stop", "", "server_error");
    stopping.retry_after = 5;
    throw stopping;
  }
  const auto read = [this, call, &route, key_may_follow] {
    if (options_.log && options_.log_texts) call->parties->body = body_without_key(call->request);
    if (key_may_follow) authorise(*call, route, key_of_body(call->request));
    route.handle(call);
  };
  if (unpack_if_small(call->request, options_.most_body_bytes)) return read();
  push(reading_, call, [this, call, read](search::WorkerPool&) {
    unpack_body(call->request, options_.most_body_bytes);
    read();
  });
}

void Service::fail(const CallPtr& call, const std::exception_ptr& error) const {
  int status = 500;
  std::string message = "internal error", type = "server_error", parameter;
  Headers headers;
  try {
    std::rethrow_exception(error);
  } catch (const HttpError& e) {
    status = e.status(), message = e.what(), type = e.type(), parameter = e.parameter();
    if (!e.allow.empty()) headers.emplace_back("Allow", e.allow);
    if (e.retry_after) headers.emplace_back("Retry-After", std::to_string(*e.retry_after));
    if (status == 401) headers.emplace_back("WWW-Authenticate", "Bearer");
    if (status == 415) headers.emplace_back("Accept-Encoding", accepted_codings);
  } catch (const Error& e) {
    status = e.kind() == ErrorKind::usage ? 400 : 500;
    message = e.what();
    if (status == 400)
      type = invalid_request;
    else
      spdlog::error("{}: {}", call->request.path, e.what());
  } catch (const std::bad_alloc&) {
    status = 503, message = "out of memory";
    spdlog::error("{}: out of memory", call->request.path);
  } catch (const std::exception& e) {
    spdlog::error("{}: internal error: {}", call->request.path, e.what());
  }
  bool libretranslate = false;
  for (const Route& route : routes_)
    if (is_at(route, call->request.path)) libretranslate = route.errors == ErrorStyle::libretranslate;
  const Json body = libretranslate ? Json{{"error", message}}
                                   : Json{{"error",
                                           {{"message", message},
                                            {"type", type},
                                            {"param", parameter.empty() ? Json(nullptr) : Json(parameter)},
                                            {"code", status}}}};
  call->out->send({.status = status, .body = json_text(body) + "\n", .headers = std::move(headers)});
}

ModelPtr Service::model_for(const CallPtr& call, const std::string& name, std::optional<bool> translates) const {
  ModelPtr model = find_model(name, translates);
  call->parties->model = model->name();
  return model;
}

ModelPtr Service::find_model(const std::string& name, std::optional<bool> translates) const {
  bool loading = false, any = false;
  for (const Models::Status& s : models_.status()) {
    if (!name.empty() && s.name != name) continue;
    any = true;
    loading |= s.state == Models::State::loading;
    if (!s.model) continue;
    if (!translates || s.model->translates() == *translates) return s.model;
    if (!name.empty())
      throw HttpError(
          400,
          fmt::format("model {} {}", printable(name),
                      *translates ? "continues text, it does not translate" : "translates, it does not continue text"),
          "model");
  }
  if (loading) {
    HttpError error(503, "the model is being loaded", "model", "server_error");
    error.retry_after = 1;
    throw error;
  }
  if (!name.empty() && any)
    throw HttpError(503, fmt::format("model {} is not loaded", printable(name)), "model", "server_error");
  throw HttpError(404,
                  name.empty() ? fmt::format("there is no model here that {}",
                                             translates.value_or(true) ? "translates" : "continues text")
                               : fmt::format("there is no model {}", printable(name)),
                  "model");
}

namespace {

// Tells once the gate is open.
template <class Told>
std::function<void(Told)> behind(const std::shared_ptr<std::mutex>& gate, std::function<void(Told)> tell) {
  if (!tell) return {};
  return [gate, tell = std::move(tell)](Told told) {
    { const std::lock_guard open(*gate); }
    tell(std::forward<Told>(told));
  };
}

HttpError full(const Engine& engine) {
  HttpError error(429, "too many are waiting", "", "rate_limit_error");
  error.retry_after = std::clamp(static_cast<int>(std::ceil(engine.expected_wait())), 1, 60);
  return error;
}

}  // namespace

void Service::check_room(const CallPtr& call, const ServedModel& model) const {
  if (!model.engine().has_room(call->client())) throw full(model.engine());
}

void Service::check_room(const CallPtr& call, bool translates) const {
  ModelPtr any;
  for (const ModelPtr& model : models_.ready()) {
    if (model->translates() != translates) continue;
    if (model->engine().has_room(call->client(), false)) return;
    any = model;
  }
  if (any) check_room(call, *any);
}

void Service::submit(const CallPtr& call, const ModelPtr& model, std::vector<WorkPtr> works,
                     const std::function<void()>& begin) {
  const auto gate = std::make_shared<std::mutex>();
  std::unique_lock<std::mutex> shut;
  if (begin) shut = std::unique_lock(*gate);
  for (const WorkPtr& work : works) {
    work->client = call->client();
    work->deadline = std::min(work->deadline, call->deadline);
    if (!begin) continue;
    work->on_token = behind(gate, std::move(work->on_token));
    work->on_partial = behind(gate, std::move(work->on_partial));
    work->on_end = behind(gate, std::move(work->on_end));
  }
  const auto portions = std::make_shared<Portions>(model, std::move(works));
  switch (portions->start()) {
    case Engine::Answer::taken:
      break;
    case Engine::Answer::full:
      throw full(model->engine());
    case Engine::Answer::closed: {
      HttpError error(503, "the model is being replaced", "", "server_error");
      error.retry_after = 1;
      throw error;
    }
  }
  call->out->on_gone([portions] { portions->cancel(); });
  if (begin) begin();
}

void Service::push(SideWorker& worker, const CallPtr& call, std::function<void(search::WorkerPool&)> job) {
  // While it waits, whoever asked may go away; what it begins says for itself what is to be done then.
  const auto gone = std::make_shared<std::atomic<bool>>(false);
  call->out->on_gone([gone] { *gone = true; });
  const bool taken = worker.push(call->client(), [this, call, gone, job = std::move(job)](search::WorkerPool& pool) {
    if (*gone) return;
    try {
      if (call->deadline <= Clock::now()) throw HttpError(503, "the request waited for too long", "", "server_error");
      job(pool);
    } catch (...) {
      fail(call, std::current_exception());
    }
  });
  if (taken) return;
  HttpError error(429, "too many are waiting", "", "rate_limit_error");
  error.retry_after = 1;
  throw error;
}

void Service::check_texts(const std::vector<std::string>& texts, const std::string& name) const {
  if (texts.size() > options_.most_texts)
    throw HttpError(
        400, fmt::format("{}: {} texts, at most {} may come together", name, texts.size(), options_.most_texts), name);
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    bytes += texts[i].size();
    if (!is_utf8(texts[i])) {
      const std::string which = texts.size() > 1 ? fmt::format("{} {}", name, i + 1) : name;
      throw HttpError(400, which + ": is not UTF-8", name);
    }
  }
  if (bytes > options_.most_characters)
    throw HttpError(
        413, fmt::format("{}: {} bytes, at most {} may come together", name, bytes, options_.most_characters), name);
}

Json Service::openapi() const {
  Json paths = Json::object();
  for (const Route& route : routes_) {
    Json one{{"summary", route.summary},
             {"operationId", route.method + route.path},
             {"responses",
              {{"200", {{"description", route.response}, {"content", {{route.response_type, Json::object()}}}}},
               {"default", {{"description", "what is wrong with the request"}}}}}};
    if (!route.request_schema.is_null()) {
      one["requestBody"] = {{"required", true},
                            {"content", {{"application/json", {{"schema", route.request_schema}}}}}};
      if (route.errors == ErrorStyle::libretranslate)
        for (const char* form : {"application/x-www-form-urlencoded", "multipart/form-data"})
          one["requestBody"]["content"][form] = {{"schema", route.request_schema}};
    }
    if (const std::size_t name = route.path.find('{'); name != std::string::npos)
      one["parameters"] = Json::array({Json{{"name", route.path.substr(name + 1, route.path.size() - name - 2)},
                                            {"in", "path"},
                                            {"required", true},
                                            {"schema", {{"type", "string"}}}}});
    if (route.who == Route::Who::anybody) one["security"] = Json::array();
    paths[route.path][lower(route.method)] = std::move(one);
  }
  return {{"openapi", "3.0.3"},
          {"info", {{"title", "tril"}, {"version", std::string(version)}}},
          {"components", {{"securitySchemes", {{"key", {{"type", "http"}, {"scheme", "bearer"}}}}}}},
          {"security", Json::array({Json{{"key", Json::array()}}})},
          {"paths", paths}};
}

}  // namespace tril::serve
