// Clients that declare that they send no more, and still wait for their answers, over TCP and over TLS.
#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>

#include "serve/http/http_server.h"
#include "support/certificate.h"
#include "support/client.h"
#include "support/temporary.h"

namespace tril::serve::half_closed_clients_test {
namespace {

using testing::Answer;
using testing::Client;
using testing::Free;
using testing::with_certificate;

constexpr std::chrono::seconds longest_wait(20);

// A server whose requests wait until the test answers them.
class HoldingServer {
 public:
  using Held = std::pair<HttpRequest, std::shared_ptr<Responder>>;

  explicit HoldingServer(HttpServerOptions options) : server_((options.port = 0, options), handler()) {}

  std::uint16_t port() const { return server_.port(); }
  int gone() const { return gone_; }
  Held take() {
    const auto begun = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - begun < longest_wait) {
      {
        const std::lock_guard lock(mutex_);
        if (!held_.empty()) {
          Held first = std::move(held_.front());
          held_.erase(held_.begin());
          return first;
        }
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    throw std::runtime_error("no request");
  }
  void answer_next() {
    const auto [request, out] = take();
    out->send({.content_type = "text/plain", .body = request.method + " " + request.path + "|" + request.body});
  }
  void await_gone(int n) const {
    const auto begun = std::chrono::steady_clock::now();
    while (gone_ < n && std::chrono::steady_clock::now() - begun < longest_wait) std::this_thread::yield();
    EXPECT_EQ(gone_, n);
  }

 private:
  Handler handler() {
    return [this](HttpRequest request, std::shared_ptr<Responder> out) {
      out->on_gone([this] { ++gone_; });
      const std::lock_guard lock(mutex_);
      held_.emplace_back(std::move(request), std::move(out));
    };
  }

  std::mutex mutex_;
  std::vector<Held> held_;
  std::atomic<int> gone_ = 0;
  HttpServer server_;
};

// Time for several probes.
void pause() {
  std::this_thread::sleep_for(std::chrono::milliseconds(1200));
}

TEST(HalfClosedClients, AreAnswered) {
  HoldingServer server({});
  Client client(server.port());
  client.send(Client::request("POST", "/one", "x"));
  client.end_sending();
  pause();
  server.answer_next();
  const Answer one = client.answer();
  EXPECT_EQ(one.body, "POST /one|x");
  EXPECT_EQ(one.headers.at("connection"), "close");
  EXPECT_TRUE(client.is_closed());

  Client pipelined(server.port());
  pipelined.send(Client::request("GET", "/a") + Client::request("GET", "/b"));
  pipelined.end_sending();
  server.answer_next();
  EXPECT_EQ(pipelined.answer().body, "GET /a|");
  server.answer_next();
  EXPECT_EQ(pipelined.answer().body, "GET /b|");
  EXPECT_TRUE(pipelined.is_closed());

  Client old(server.port());
  old.send("GET /old HTTP/1.0\r\n\r\n");
  old.end_sending();
  server.answer_next();
  EXPECT_EQ(old.answer().body, "GET /old|");

  Client stream(server.port());
  stream.send(Client::request("GET", "/stream"));
  const auto out = server.take().second;
  out->begin({.body = "begin "});
  EXPECT_TRUE(stream.head().starts_with("HTTP/1.1 200"));
  EXPECT_EQ(stream.next_chunk(), "begin ");
  stream.end_sending();
  pause();
  out->write("more");
  EXPECT_EQ(stream.next_chunk(), "more");
  out->finish();
  EXPECT_EQ(stream.next_chunk(), "");
  EXPECT_TRUE(stream.is_closed());
  EXPECT_EQ(server.gone(), 0);
}

// Half a request is not answered, and those who close their connection are noticed.
TEST(HalfClosedClients, AreToldFromThoseWhoLeave) {
  HoldingServer server({});
  Client half(server.port());
  half.send("GET / HT");
  half.end_sending();
  EXPECT_TRUE(half.is_closed());
  Client leaves(server.port());
  leaves.send(Client::request("GET", "/leaves"));
  const auto kept = server.take().second;
  leaves.close();
  server.await_gone(1);
  Client leaves_later(server.port());
  leaves_later.send(Client::request("GET", "/later"));
  const auto kept_later = server.take().second;
  leaves_later.end_sending();
  pause();
  EXPECT_EQ(server.gone(), 1);
  leaves_later.close();
  server.await_gone(2);
  Client leaves_stream(server.port());
  leaves_stream.send(Client::request("GET", "/stream"));
  const auto kept_stream = server.take().second;
  kept_stream->begin({});
  (void)leaves_stream.head();
  leaves_stream.close();
  server.await_gone(3);
}

class TlsClient {
 public:
  TlsClient(std::uint16_t port, int version) : context_(SSL_CTX_new(TLS_client_method())) {
    SSL_CTX_set_min_proto_version(context_.get(), version);
    SSL_CTX_set_max_proto_version(context_.get(), version);
    socket_.reset(BIO_new_connect(("127.0.0.1:" + std::to_string(port)).c_str()));
    if (BIO_do_connect(socket_.get()) != 1) throw std::runtime_error("no connection");
    ssl_.reset(SSL_new(context_.get()));
    BIO_up_ref(socket_.get());
    SSL_set_bio(ssl_.get(), socket_.get(), socket_.get());
    if (SSL_connect(ssl_.get()) != 1) throw std::runtime_error("no handshake");
  }
  void send(const std::string& text) { SSL_write(ssl_.get(), text.data(), static_cast<int>(text.size())); }
  void send_close_notify() { SSL_shutdown(ssl_.get()); }
  void close() { ::shutdown(static_cast<int>(BIO_get_fd(socket_.get(), nullptr)), SHUT_RDWR); }
  /// All that the server sends. @param orderly  whether it ended with close_notify
  std::string rest(bool& orderly) {
    std::string text;
    char bytes[4096];
    for (;;) {
      const int n = SSL_read(ssl_.get(), bytes, sizeof(bytes));
      if (n <= 0) {
        orderly = SSL_get_error(ssl_.get(), n) == SSL_ERROR_ZERO_RETURN;
        return text;
      }
      text.append(bytes, static_cast<std::size_t>(n));
    }
  }

 private:
  std::unique_ptr<SSL_CTX, Free<SSL_CTX_free>> context_;
  std::unique_ptr<BIO, Free<BIO_free>> socket_;
  std::unique_ptr<SSL, Free<SSL_free>> ssl_;
};

TEST(HalfClosedClients, AreAnsweredOverTls) {
  const TemporaryDirectory directory;
  HoldingServer server(with_certificate(directory.path()));
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    SCOPED_TRACE(version);
    bool orderly = false;
    TlsClient client(server.port(), version);
    client.send(Client::request("POST", "/one", "x"));
    client.send_close_notify();
    pause();
    server.answer_next();
    const std::string answer = client.rest(orderly);
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 100")) << answer;
    EXPECT_TRUE(answer.ends_with("\r\n\r\nPOST /one|x")) << answer;
    EXPECT_TRUE(orderly);
    EXPECT_EQ(server.gone(), 0);
  }
  TlsClient keeps_sending(server.port(), TLS1_3_VERSION);
  keeps_sending.send("GET /two HTTP/1.0\r\n\r\n");
  server.answer_next();
  bool orderly = false;
  EXPECT_TRUE(keeps_sending.rest(orderly).ends_with("GET /two|"));
  EXPECT_TRUE(orderly);

  TlsClient leaves(server.port(), TLS1_3_VERSION);
  leaves.send(Client::request("GET", "/leaves"));
  const auto kept = server.take().second;
  leaves.send_close_notify();
  leaves.close();
  server.await_gone(1);
  TlsClient breaks(server.port(), TLS1_3_VERSION);
  breaks.send(Client::request("GET", "/breaks"));
  const auto kept_too = server.take().second;
  breaks.close();
  server.await_gone(2);
}

}  // namespace
}  // namespace tril::serve::half_closed_clients_test
