#include "serve/http/http_responder.h"

#include <atomic>
#include <string>
#include <utility>

namespace tril::serve {
namespace {

class ConnectionResponder : public Responder {
 public:
  ConnectionResponder(std::shared_ptr<AnsweringConnection> connection, std::uint64_t request)
      : connection_(std::move(connection)), request_(request) {}
  ~ConnectionResponder() override {
    if (!answered_)
      run([](AnsweringConnection& c, std::uint64_t n) { c.send(n, {.status = 500, .body = "{}"}); });
    else if (!finished_)
      run([](AnsweringConnection& c, std::uint64_t n) { c.abandon(n); });
  }
  void send(HttpResponse r) override {
    answered_ = finished_ = true;
    run([r = std::move(r)](AnsweringConnection& c, std::uint64_t n) { c.send(n, r); });
  }
  void begin(HttpResponse r) override {
    answered_ = true;
    run([r = std::move(r)](AnsweringConnection& c, std::uint64_t n) { c.begin(n, r); });
  }
  void write(std::string_view more) override {
    run([text = std::string(more)](AnsweringConnection& c, std::uint64_t n) { c.more(n, text); });
  }
  void finish() override {
    finished_ = true;
    run([](AnsweringConnection& c, std::uint64_t n) { c.finish(n); });
  }
  void on_gone(std::function<void()> f) override {
    run([f = std::move(f)](AnsweringConnection& c, std::uint64_t n) { c.tell_if_gone(n, f); });
  }

 private:
  template <class F>
  void run(F f) {
    connection_->run([c = connection_, n = request_, f = std::move(f)] { f(*c, n); });
  }
  std::shared_ptr<AnsweringConnection> connection_;
  std::uint64_t request_;
  std::atomic<bool> answered_ = false, finished_ = false;
};

}  // namespace

std::shared_ptr<Responder> make_responder(std::shared_ptr<AnsweringConnection> connection, std::uint64_t request) {
  return std::make_shared<ConnectionResponder>(std::move(connection), request);
}

}  // namespace tril::serve
