// A server of two small models that accepts any input, with the APIs of other translators, and the invariants of its answers. Shared by
// fuzzer and tests.
// An input is either
//   RAW\n and the bytes of a connection, or
//   METHOD PATH[?QUERY] [TYPE]\n and a request's body with this Content-Type; below /admin with an administrator's key, after
//   which all models are loaded again.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>

#include "serve/api/service.h"
#include "serve/dialects/dialects.h"
#include "serve/http/http_server.h"
#include "support/client.h"
#include "support/small_models.h"

namespace tril::serve::testing {

class RequestHarness {
 public:
  RequestHarness()
      : models_({{"de", [de = small_translator()] { return de; }},
                 {"plays", [plays = small_writer(letters)] { return plays; }}}),
        service_({.keys = {{}, {admin_key}},
                  .request_seconds = 2,
                  .most_texts = 20,
                  .most_characters = 2000,
                  .most_new_tokens = 100},
                 models_),
        server_(
            {.port = 0, .threads = 1, .most_head_bytes = 4096, .most_body_bytes = 8192},
            [this](HttpRequest r, std::shared_ptr<Responder> out) { service_.handle(std::move(r), std::move(out)); }) {
    add_dialects(service_);
    models_.wait();
  }

  /// The fault of the answer; "" if none.
  std::string say(std::string_view what) {
    const std::string_view line = what.substr(0, what.find('\n'));
    const std::string_view rest = what.substr(std::min(what.size(), line.size() + 1));
    return line == "RAW" ? say_bytes(rest) : ask(line, rest);
  }

 private:
  static constexpr const char* admin_key = "an administrator's";
  struct Answered {
    std::mutex mutex;
    std::condition_variable changed;
    HttpResponse response;
    bool over = false;
    void end() {
      const std::lock_guard lock(mutex);
      over = true;
      changed.notify_all();
    }
  };
  class Out : public Responder {
   public:
    explicit Out(std::shared_ptr<Answered> to) : to_(std::move(to)) {}
    ~Out() override { to_->end(); }
    void send(HttpResponse r) override { put(std::move(r)), to_->end(); }
    void begin(HttpResponse r) override { put(std::move(r)); }
    void write(std::string_view more) override {
      const std::lock_guard lock(to_->mutex);
      to_->response.body += more;
    }
    void finish() override { to_->end(); }
    void on_gone(std::function<void()>) override {}

   private:
    void put(HttpResponse r) {
      const std::lock_guard lock(to_->mutex);
      to_->response = std::move(r);
    }
    std::shared_ptr<Answered> to_;
  };

  std::string ask(std::string_view line, std::string_view body) {
    const std::size_t space = line.find(' ');
    HttpRequest request;
    request.method = std::string(line.substr(0, space));
    request.path = space == std::string_view::npos ? "/" : std::string(line.substr(space + 1));
    if (const std::size_t type = request.path.find(' '); type != std::string::npos) {
      request.headers.emplace_back("content-type", request.path.substr(type + 1));
      request.path.erase(type);
    }
    if (const std::size_t question = request.path.find('?'); question != std::string::npos) {
      request.query_text = request.path.substr(question + 1);
      request.query = parse_query(request.query_text);
      request.path.erase(question);
    }
    request.address = "127.0.0.1";
    request.body = std::string(body.substr(0, 8192));
    const bool administers = request.path.starts_with("/admin");
    if (administers) request.headers.emplace_back("x-api-key", admin_key);
    const auto answered = std::make_shared<Answered>();
    answered->response.status = 0;
    service_.handle(std::move(request), std::make_shared<Out>(answered));
    std::unique_lock lock(answered->mutex);
    if (!answered->changed.wait_for(lock, std::chrono::seconds(60), [&] { return answered->over; }))
      return "no answer came";
    if (administers && !restore()) return "a model does not come back";
    const HttpResponse& r = answered->response;
    const bool known = (r.status >= 200 && r.status <= 204) || (r.status >= 400 && r.status < 500) || r.status == 501 ||
                       r.status == 503;
    if (!known) return fmt::format("status {}: {}", r.status, r.body);
    if (r.content_type == "application/json" && !r.body.empty() && !Json::accept(r.body)) return "no JSON: " + r.body;
    return "";
  }

  // Loads unloaded models again.
  bool restore() {
    const auto until = Clock::now() + std::chrono::seconds(60);
    for (const char* name : {"de", "plays"})
      for (bool asked = false; !models_.find(name); asked = true) {
        if (!asked) models_.reload(name);
        if (Clock::now() > until) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    return true;
  }

  std::string say_bytes(std::string_view bytes) {
    Client client(server_.port());
    client.send(std::string(bytes));
    client.end_sending();
    return client.is_closed(60) ? "" : "the connection stays open";
  }

  Models models_;
  Service service_;
  HttpServer server_;
};

}  // namespace tril::serve::testing
