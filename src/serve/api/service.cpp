#include "serve/api/service.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <random>

#include "base/allowed.h"
#include "base/printable.h"
#include "serve/api/body_reading.h"
#include "serve/api/classroom.h"
#include "serve/api/error_answer.h"
#include "serve/api/form_body.h"
#include "serve/api/page.h"
#include "serve/api/suggestions.h"
#include "serve/api/text_sources.h"
#include "serve/api/translate_request.h"
#include "serve/http/content_coding.h"
#include "terms/glossary_store.h"
#include "unicode/trim.h"

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

// Headers of every answer that keep browsers from misinterpreting it.
const Headers& security_headers() {
  static const Headers headers{{"X-Content-Type-Options", "nosniff"},
                               {"X-Frame-Options", "DENY"},
                               {"Referrer-Policy", "no-referrer"},
                               {"Cross-Origin-Opener-Policy", "same-origin"},
                               {"Cache-Control", "no-store"}};
  return headers;
}

// The key's position in the list, from 1 on; 0 if it is not in it.
std::size_t place_of(const std::string& key, const std::vector<std::string>& keys) {
  std::size_t place = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) place = equal_in_constant_time(keys[i], key) ? i + 1 : place;
  return key.empty() ? 0 : place;
}

// Whether the route's path matches this one; a {name} matches any non-empty text, one within the path only without a slash.
bool is_path(std::string_view route, std::string_view path) {
  const std::size_t begin = route.find('{');
  if (begin == std::string_view::npos) return route == path;
  const std::string_view before = route.substr(0, begin), after = route.substr(route.find('}') + 1);
  if (path.size() <= before.size() + after.size() || !path.starts_with(before) || !path.ends_with(after)) return false;
  const std::string_view name = path.substr(begin, path.size() - before.size() - after.size());
  return after.empty() || name.find('/') == std::string_view::npos;
}

bool is_at(const Route& route, const HttpRequest& request) {
  if (is_path(route.path, request.path)) return true;
  return !route.alias.empty() && is_path(route.alias, request.path) &&
         (route.alias_field.empty() || std::any_of(request.query.begin(), request.query.end(), [&](const auto& field) {
            return lower(field.first) == route.alias_field;
          }));
}

}  // namespace

Service::Service(const ServiceOptions& options, Models& models)
    : options_(options),
      models_(models),
      detectors_(std::make_unique<Detectors>()),
      usage_(std::make_shared<Usage>(options.usage_file)),
      documents_(std::make_unique<Documents>(*this, options.documents)),
      side_({.most_waiting = options.classroom ? classroom_waiting : SideWorker::Options{}.most_waiting,
             .threads = options.side_threads}) {
  if (!options.suggestions_file.empty())
    suggestions_ = std::make_unique<Suggestions>(options.suggestions_file, options.most_suggestion_bytes);
  set_keys(options.keys);
  run_id_ = fmt::format("{:08x}", std::random_device()());
  add_translate_routes();
  add_document_routes();
  add_suggestion_routes();
  add_language_routes();
  add_glossary_routes();
  add_openai_routes();
  add_model_routes();
  add_trace_routes();
  add_search_routes();
  add_status_routes();
  if (options_.classroom) keep_classroom_routes();
}

void Service::keep_classroom_routes() {
  std::erase_if(routes_, [](const Route& route) { return !is_for_classroom(route.path); });
  for (Route& route : routes_)
    if (route.path == "/") {
      route.summary = "A web page that shows a pass of a model step by step";
      route.handle = [](const CallPtr& call) { call->out->send(inside_page()); };
    }
}

Service::~Service() {
  // Requests that wait or run would call this object.
  models_.stop_waiting();
  models_.cancel_running();
}

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

void Service::add_routes(std::vector<Route> routes) {
  if (options_.classroom) return;
  routes_.insert(routes_.begin(), std::make_move_iterator(routes.begin()), std::make_move_iterator(routes.end()));
}

void Service::drain() {
  reading_.drain();  // its jobs may still use the side worker and the models
  documents_->stop();
  side_.drain();
  models_.drain();
}

const Route& Service::route_of(const HttpRequest& request) const {
  std::string allowed;
  for (const Route& route : routes_) {
    if (!is_at(route, request)) continue;
    if (route.method == request.method || (request.method == "HEAD" && route.method == "GET")) return route;
    if (allowed.find(route.method) == std::string::npos) allowed += (allowed.empty() ? "" : ", ") + route.method;
  }
  if (!allowed.empty()) {
    HttpError error(405, fmt::format("{} does not accept {}, only {}", printable(request.path),
                                     printable(request.method, 20), allowed));
    error.allow = allowed;
    throw error;
  }
  throw HttpError(404,
                  fmt::format("there is no route {}{}", printable(request.path),
                              options_.classroom ? ": this server only shows how its models compute, at /inside" : ""));
}

// The errors of the API at an address, which may have no route: those of a route whose path begins with the same name.
ErrorStyle Service::errors_at(std::string_view path) const {
  const auto first_name = [](std::string_view p) { return p.substr(0, p.find('/', 1)); };
  for (const Route& route : routes_)
    if (is_path(route.path, path)) return route.errors;
  for (const Route& route : routes_)
    if (first_name(route.path) == first_name(path)) return route.errors;
  return ErrorStyle::openai;
}

std::string Service::refusal(std::string_view path, int status, const std::string& message) const {
  const ErrorAnswer answer{.status = status,
                           .message = message,
                           .type = status < 500 ? invalid_request : "server_error",
                           .parameter = {},
                           .code = {},
                           .headers = {}};
  return json_text(error_body(answer, errors_at(path))) + "\n";
}

std::string Call::account() const {
  return terms::owner_of_key(key);
}

std::string Call::rate_name() const {
  return key.empty() ? rate_name_of(request.address) : account();
}

namespace {

// Like LibreTranslate, the server does not count what pages and monitoring ask it for.
bool is_counted(const Route& route) {
  return route.who != Route::Who::anybody && route.path != "/metrics";
}

HttpError too_many_requests(const RateWait& wait) {
  return no_room(fmt::format("too many requests from this client: {} in {} {}; try again in {} s", allowed(wait.most),
                             wait.span == "hour" ? "an" : "a", wait.span, wait.seconds),
                 wait.seconds);
}

}  // namespace

// A client is identified by its key, or else by its address.
void Service::identify(Call& call, const std::string& key) const {
  const auto keys = keys_now();
  const std::size_t admin = place_of(key, keys->admin), api = place_of(key, keys->api);
  call.admin = admin > 0;
  if (!call.admin) call.most_requests = options_.most_requests;
  if (admin == 0 && api == 0) return;
  call.key = key;
  call.caller->client = admin > 0 ? fmt::format("admin-key-{}", admin) : fmt::format("key-{}", api);
  if (const auto limit = keys->most_characters.find(key); limit != keys->most_characters.end())
    call.most_characters = limit->second;
  if (const auto limit = keys->most_requests.find(key); limit != keys->most_requests.end())
    call.most_requests = limit->second;
}

void Service::check_rights(const Call& call, const Route& route, const std::string& key) const {
  if (route.who == Route::Who::admins && !call.admin)
    throw HttpError(403, "this needs an administrator's key", "permission_error");
  if (route.who == Route::Who::keyholders && call.key.empty() && !keys_now()->api.empty())
    throw HttpError(401, key.empty() ? "this needs a key: Authorization: Bearer ..." : "this key is unknown",
                    "authentication_error")
        .with_code(key.empty() ? "" : "invalid_api_key");
}

// Requests with an unknown key are counted, too.
void Service::admit(Call& call, const Route& route, const std::string& key) {
  identify(call, key);
  if (call.most_requests.any() && is_counted(route))
    if (const RateWait wait = rates_.take(call.rate_name(), call.most_requests, Clock::now()); wait.seconds > 0)
      throw too_many_requests(wait);
  check_rights(call, route, key);
}

void Service::count_texts(const Call& call, std::size_t texts) {
  if (call.most_requests.any() && texts > 1)
    rates_.add(call.rate_name(), static_cast<std::int64_t>(texts) - 1, Clock::now());
}

// The beginning of a line of the access log.
std::string Service::begun_line(const HttpRequest& request, const std::string& id) const {
  if (!options_.log) return "";
  return fmt::format(R"({{"time":"{}","id":"{}","address":"{}","method":{},"path":{})", now_as_text(), id,
                     request.address, json_text(Json(printable(request.method, 20))),
                     json_text(Json(printable(request.path))));
}

void Service::note(const std::string& route, std::string line, const CallIdentity& caller, const Answered& a) {
  {
    const std::lock_guard lock(mutex_);
    ++answers_[{route, a.status}];
  }
  seconds_.add(a.seconds);
  if (!options_.log) return;
  if (caller.body) line += ",\"body\":" + json_text(Json(*caller.body));
  line += ",\"client\":" + json_text(Json(caller.client));
  if (!caller.model.empty()) line += ",\"model\":" + json_text(Json(caller.model));
  options_.log(line + fmt::format(R"(,"status":{},"bytes":{},"seconds":{:.6f}}})", a.status, a.bytes, a.seconds));
}

void Service::handle(HttpRequest request, std::shared_ptr<Responder> responder) {
  auto call = std::make_shared<Call>();
  call->warnings = Warnings(options_.unknown_fields);
  call->id = fmt::format("{}-{}", run_id_, ++requests_);
  call->deadline = call->begun + duration_of(options_.request_seconds);
  Headers headers = security_headers();
  headers.emplace_back("X-Request-Id", call->id);
  for (auto& header : cors_headers(request, options_.origins)) headers.push_back(std::move(header));

  call->errors = errors_at(request.path);
  const bool preflight = request.method == "OPTIONS" && request.header("origin");
  const Route* route = nullptr;
  std::exception_ptr error;
  if (!preflight) {
    try {
      call->route = route = &route_of(request);
      check_origin(request, options_.origins);
    } catch (...) {
      error = std::current_exception();
    }
  }
  call->caller->client = request.address;
  call->out = std::make_shared<NotedResponder>(
      std::move(responder), std::move(headers),
      [this, caller = call->caller, line = begun_line(request, call->id),
       at = route ? route->path : std::string("other")](const Answered& a) { note(at, line, *caller, a); });
  call->request = std::move(request);
  if (preflight) return call->out->send({.status = 204, .content_type = ""});
  try {
    if (error) std::rethrow_exception(error);
    take(call, *route);
  } catch (...) {
    fail(call, std::current_exception());
  }
}

// A request that its headers disqualify is refused at once, however large the body is. Until a large body has been
// searched for a key, its client is identified by address.
void Service::take(const CallPtr& call, const Route& route) {
  // The key may be missing in the beginning of an upload, but its type is known.
  if (!call->request.is_whole) check_is_multipart(call->request);
  const auto keys = keys_now();
  const bool wants_key = !keys->api.empty() || !keys->admin.empty();
  const std::string key = key_of_head(call->request, route.errors);
  const bool key_may_follow = wants_key && key.empty() && !call->request.body.empty();
  if (!key_may_follow) admit(*call, route, key);
  if (draining_ && route.who != Route::Who::anybody) throw shutting_down();
  const std::size_t most = route.takes_file ? most_upload_bytes() : options_.most_body_bytes;
  if (unpack_if_small(call->request, most)) return read_body(call, route, key_may_follow);
  push(reading_, call, [this, call, &route, most, key_may_follow](search::WorkerPool&) {
    unpack_body(call->request, most);
    read_body(call, route, key_may_follow);
  });
}

void Service::read_body(const CallPtr& call, const Route& route, bool key_may_follow) {
  if (options_.log && options_.log_texts && !route.takes_file)
    call->caller->body = body_without_key(call->request, route.errors);
  if (key_may_follow) admit(*call, route, key_of_body(call->request, route.errors));
  // It was refused for a limit of requests or a key, which allow it by now.
  if (!call->request.is_whole) throw no_room("the file was refused before it had arrived; send it again", 1);
  if (!route.request_schema.is_null() && route.query_schema.is_null())
    check_where_fields_are(call->request, route.errors, call->warnings);
  route.handle(call);
}

bool Service::takes_files(std::string_view path) const {
  return std::any_of(routes_.begin(), routes_.end(),
                     [&](const Route& route) { return route.takes_file && is_path(route.path, path); });
}

UploadJudgement Service::judge_upload(const HttpRequest& arrived) const {
  try {
    const Route& route = route_of(arrived);
    check_origin(arrived, options_.origins);
    check_is_multipart(arrived);
    if (draining_ && route.who != Route::Who::anybody) return UploadJudgement::refuse;
    const auto keys = keys_now();
    std::string key = key_of_head(arrived, route.errors);
    if (key.empty() && !(keys->api.empty() && keys->admin.empty())) {
      KeySoFar in_form = key_so_far(arrived, route.errors);
      if (in_form.key.empty()) return in_form.is_final ? UploadJudgement::take : UploadJudgement::undecided;
      key = std::move(in_form.key);
    }
    Call call;
    call.request.address = arrived.address;
    identify(call, key);
    if (call.most_requests.any() && rates_.wait_of(call.rate_name(), call.most_requests, Clock::now()).seconds > 0)
      return UploadJudgement::refuse;
    check_rights(call, route, key);
    return UploadJudgement::take;
  } catch (const HttpError&) {
    return UploadJudgement::refuse;
  }
}

std::size_t Service::most_upload_bytes() const {
  constexpr std::size_t heads_bytes = std::size_t{16} << 10;  // of the parts of the form
  return std::max(options_.documents.most_bytes + most_field_bytes + heads_bytes, options_.most_body_bytes);
}

ErrorAnswer Service::answer_to(const Call& call, const std::exception_ptr& error) {
  if (call.route && call.route->errors != ErrorStyle::openai) {  // it may become a request of POST /translate
    static const Json fields = translate_schema()["properties"];
    return error_answer(error, call.request.path, fields);
  }
  const Json fields = call.route && call.route->request_schema.is_object()
                          ? call.route->request_schema.value("properties", Json::object())
                          : Json::object();
  return error_answer(error, call.request.path, fields);
}

void Service::fail(const CallPtr& call, const std::exception_ptr& error) {
  ErrorAnswer answer = answer_to(*call, error);
  const ErrorStyle style = call->route ? call->route->errors : call->errors;
  call->out->send({.status = error_status(answer, style),
                   .content_type = json_type(style),
                   .body = json_text(error_body(answer, style)) + "\n",
                   .headers = std::move(answer.headers)});
}

void Service::check_texts(const std::vector<std::string>& texts, const std::string& name) const {
  if (texts.size() > options_.most_texts)
    throw field_error(name, fmt::format("{} texts, but {} in a request", texts.size(), allowed(options_.most_texts)));
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    bytes += texts[i].size();
    if (!is_utf8(texts[i])) {
      const std::string which = texts.size() > 1 ? fmt::format("{} {}", name, i + 1) : name;
      throw HttpError(400, which + ": is not UTF-8").of_field(name);
    }
  }
  if (bytes > options_.most_characters)
    throw HttpError(413,
                    fmt::format("{}: {} bytes, but {} in a request", name, bytes, allowed(options_.most_characters)))
        .of_field(name);
}

}  // namespace tril::serve
