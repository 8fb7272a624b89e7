#include "watch/run_watch.h"

#include <fmt/format.h>

#include <chrono>
#include <exception>
#include <filesystem>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/fields.h"
#include "format/json_text.h"
#include "report/report.h"
#include "report/report_page.h"
#include "serve/http/http_error.h"
#include "serve/http/origins.h"

namespace tril::watch {
namespace {

constexpr double seconds_between_now = 0.25;
constexpr double last_seconds = 1;  // for readers, when the run has ended
constexpr std::size_t most_streams = 16;
// For a small model, a first view takes less than 300 KB: a curve, the samples and the maps are thinned out more than in
// a report.
constexpr train::PageLimits limits{.points = 500, .sample_lines = 40, .attention_bytes = 96u << 10};

serve::HttpServerOptions server_options(std::uint16_t port) {
  serve::HttpServerOptions o;
  o.port = port;
  o.threads = 1;  // makes one JSON at a time, on one core
  o.most_connections = 64;
  o.most_body_bytes = 4096;
  o.most_unsent_bytes = std::size_t{256} << 10;
  return o;
}

serve::HttpResponse error_of(int status, const std::string& message) {
  return {.status = status, .body = fmt::format("{{\"error\":{{\"message\":{}}}}}\n", json_quoted(message))};
}

// Pages of other sites may neither read the run nor take its streams, as an <img> could.
void check_reader(const serve::HttpRequest& request) {
  try {
    serve::check_origin(request, {.allowed = {}, .own_names_only = true});
  } catch (const serve::HttpError& refused) {
    throw serve::HttpError(refused.status(), "open the page as http://127.0.0.1:PORT or http://localhost:PORT");
  }
  if (request.header("sec-fetch-site").value_or("") == "cross-site")
    throw serve::HttpError(403, "pages of other sites are not allowed");
}

}  // namespace

RunWatch::RunWatch(std::string directory, std::uint16_t port) : directory_(std::move(directory)) {
  server_ = std::make_unique<serve::HttpServer>(
      server_options(port), [this](const serve::HttpRequest& request, const std::shared_ptr<serve::Responder>& out) {
        serve::HttpResponse r;
        try {
          check_reader(request);
          if (request.method == "GET" && request.path == "/events") {
            if (readers_.add(out, most_streams)) return;
            r = error_of(503, fmt::format("{} pages watch this run already", most_streams));
          } else {
            r = answer(request);
          }
        } catch (const serve::HttpError& e) {
          r = error_of(e.status(), e.what());
        } catch (const std::exception& e) {  // a file of the run is damaged: the trainer goes on
          r = error_of(500, e.what());
        }
        r.headers.insert(r.headers.end(), {{"Cache-Control", "no-store"}, {"X-Content-Type-Options", "nosniff"}});
        out->send(std::move(r));
      });
}

RunWatch::~RunWatch() {
  try {
    readers_.tell("end", "{}");
  } catch (const std::exception&) {  // no memory for the message: readers see the connection end
  }
  for (const double until = seconds_now() + last_seconds; readers_.count() > 0 && seconds_now() < until;)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  readers_.finish();
  server_.reset();
}

std::string RunWatch::url() const {
  return fmt::format("http://127.0.0.1:{}/", port());
}

serve::HttpResponse RunWatch::answer(const serve::HttpRequest& request) {
  if (request.path != "/" && request.path != "/run") return error_of(404, "there are /, /run and /events");
  if (request.method != "GET" && request.method != "HEAD") {
    serve::HttpResponse r = error_of(405, "use GET");
    r.headers = {{"Allow", "GET, HEAD"}};
    return r;
  }
  if (request.path == "/run") return {.body = run_json()};
  return {.content_type = "text/html; charset=utf-8", .body = train::live_page(directory_)};
}

// Read from the files once for each change, however many ask.
std::string RunWatch::run_json() {
  const std::lock_guard lock(mutex_);
  const std::int64_t version = version_;  // before the files are read: they may hold more, never less
  if (version_read_ != version) {
    const bool begun = std::filesystem::exists(directory_ + "/train.jsonl");
    const train::RunLines run = begun ? train::read_run(directory_) : train::RunLines{directory_, {}, {}};
    run_ = train::report_data({&run, 1}, limits);
    version_read_ = version;
  }
  return run_;
}

void RunWatch::updated(const train::TrainingReport& now) {
  if (!std::exchange(has_begun_, true)) changed();  // the line with the run's options is written by now
  if (readers_.count() == 0) return;
  const double at = seconds_now();
  if (at < next_now_) return;
  next_now_ = at + seconds_between_now;
  readers_.tell("now", train::json_line(now));
}

void RunWatch::reported(const train::TrainingReport& report) {
  ++version_;
  if (readers_.count() > 0) readers_.tell("train", train::json_line(report));
}

void RunWatch::changed() {
  ++version_;
  readers_.tell("changed", "{}");
}

}  // namespace tril::watch
