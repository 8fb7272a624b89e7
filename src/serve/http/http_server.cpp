#include "serve/http/http_server.h"

#include <algorithm>
#include <boost/asio.hpp>
#include <mutex>
#include <system_error>
#include <thread>

#include "base/error.h"
#include "serve/http/http_connection.h"
#include "serve/http/http_host.h"
#include "serve/http/transport.h"

namespace tril::serve {
namespace {

namespace net = boost::asio;
using boost::system::error_code;
using net::ip::tcp;

constexpr std::chrono::milliseconds crowded_look_every{3};

}  // namespace

class HttpServer::Implementation : public HttpHost, public std::enable_shared_from_this<Implementation> {
 public:
  Implementation(const HttpServerOptions& o, Handler handler)
      : HttpHost(o, std::move(handler)),
        acceptor_(net::make_strand(io_)),
        pause_(acceptor_.get_executor()),
        work_(io_.get_executor()) {
    context_ = read_certificate();
    error_code error;
    const net::ip::address address = net::ip::make_address(o.address, error);
    if (error)
      fail_usage("address", "expected an IP address such as 127.0.0.1 or ::1, got " + o.address,
                 "use 127.0.0.1 for localhost, or 0.0.0.0 for all addresses of the machine");
    const tcp::endpoint endpoint(address, o.port);
    const auto must = [&](const char* what) {
      if (error) fail(fmt::format("{}:{}", o.address, o.port), fmt::format("cannot {}: {}", what, error.message()));
    };
    acceptor_.open(endpoint.protocol(), error), must("be opened");
    acceptor_.set_option(tcp::acceptor::reuse_address(true), error), must("be opened");
    acceptor_.bind(endpoint, error), must("be taken");
    acceptor_.listen(net::socket_base::max_listen_connections, error), must("be listened on");
    port_ = acceptor_.local_endpoint().port();
  }

  void start() {
    accept();
    try {
      for (int i = 0; i < options.threads; ++i) threads_.emplace_back([this] { run(); });
    } catch (const std::system_error& problem) {
      const std::size_t started = threads_.size();
      stop();
      fail("HTTP threads", fmt::format("only {} of {} can be started ({})", started, options.threads, problem.what()),
           "pass fewer `http_threads` or `threads`, or raise the limits (ulimit)");
    }
  }
  void stop();
  void drain();
  std::uint16_t port() const { return port_; }
  void reload_certificate() {
    auto fresh = read_certificate();
    const std::lock_guard lock(mutex_);
    context_ = std::move(fresh);
  }

 private:
  std::shared_ptr<TlsContext> read_certificate() const {
    return tls_context(options.certificate_file, options.key_file);
  }
  std::shared_ptr<TlsContext> context() const {
    const std::lock_guard lock(mutex_);
    return context_;
  }
  void run();
  void accept();
  void take(Socket socket);
  struct Newcomer;
  void make_room(const std::shared_ptr<Newcomer>& newcomer);
  std::vector<std::shared_ptr<HttpConnection>> in_phase(HttpConnection::Phase phase) const;

  net::io_context io_;
  std::uint16_t port_ = 0;  // kept after listening ends
  // Both are in one strand, so that the socket is never closed during the next accept.
  tcp::acceptor acceptor_;
  net::steady_timer pause_;
  net::executor_work_guard<net::io_context::executor_type> work_;
  std::vector<std::thread> threads_;
  mutable std::mutex mutex_;
  std::shared_ptr<TlsContext> context_;  ///< guarded by mutex_
};

void HttpServer::Implementation::run() {
  while (io_.run_one() > 0) {
    io_.poll();
    if (options.crowded && options.crowded()) std::this_thread::sleep_for(crowded_look_every);
  }
}

void HttpServer::Implementation::accept() {
  acceptor_.async_accept(net::make_strand(io_), [self = this](error_code error, Socket socket) {
    if (self->draining() || error == net::error::operation_aborted) return;
    if (error) {  // perhaps too many open files: closing others helps
      self->pause_.expires_after(std::chrono::milliseconds(50));
      self->pause_.async_wait([self](error_code stopped) {
        if (!stopped) self->accept();
      });
      return;
    }
    self->take(std::move(socket));
    self->accept();
  });
}

// A new connection for which there is no place yet.
struct HttpServer::Implementation::Newcomer {
  Socket socket;
  HttpConnection::Phase phase = HttpConnection::Phase::idle;  ///< of the connections that are asked to make room
  std::vector<std::shared_ptr<HttpConnection>> others = {};   ///< the next to ask is the last
};

void HttpServer::Implementation::take(Socket socket) {
  if (size() < options.most_connections)
    return make_connection(shared_from_this(), make_transport(std::move(socket), context()))->start();
  const auto newcomer = std::make_shared<Newcomer>(Newcomer{.socket = std::move(socket)});
  newcomer->others = in_phase(newcomer->phase);
  make_room(newcomer);
}

// Idle connections make room for new ones, the oldest first; if none is idle, the connection whose request has been
// arriving for the longest. Each is asked in its own strand, since its state may have changed meanwhile.
void HttpServer::Implementation::make_room(const std::shared_ptr<Newcomer>& newcomer) {
  using Phase = HttpConnection::Phase;
  if (newcomer->others.empty() && newcomer->phase == Phase::idle) {
    newcomer->phase = Phase::reading;
    newcomer->others = in_phase(Phase::reading);
  }
  if (newcomer->others.empty()) {
    static constexpr std::string_view busy =
        "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    error_code ignored;
    newcomer->socket.non_blocking(true, ignored);
    if (!context()) newcomer->socket.write_some(net::buffer(busy.data(), busy.size()), ignored);
    return;
  }
  const std::shared_ptr<HttpConnection> other = std::move(newcomer->others.back());
  newcomer->others.pop_back();
  other->give_place(newcomer->phase, [self = shared_from_this(), newcomer](bool closed) {
    if (self->draining()) return;
    if (!closed) return self->make_room(newcomer);
    make_connection(self, make_transport(std::move(newcomer->socket), self->context()))->start();
  });
}

// Sorted so that the oldest, or the one whose request has been arriving for the longest, is last.
std::vector<std::shared_ptr<HttpConnection>> HttpServer::Implementation::in_phase(HttpConnection::Phase phase) const {
  std::vector<std::shared_ptr<HttpConnection>> list = all();
  std::erase_if(list, [&](const auto& connection) { return connection->phase() != phase; });
  std::reverse(list.begin(), list.end());
  if (phase != HttpConnection::Phase::reading) return list;
  // A connection may begin another request meanwhile, so its time is read once: a sort by times that change may leave the list.
  std::vector<std::pair<std::chrono::steady_clock::time_point, std::shared_ptr<HttpConnection>>> timed;
  for (auto& connection : list) timed.emplace_back(connection->begun(), std::move(connection));
  std::stable_sort(timed.begin(), timed.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::transform(timed.begin(), timed.end(), list.begin(), [](auto& one) { return std::move(one.second); });
  return list;
}

void HttpServer::Implementation::drain() {
  begin_draining();
  net::post(acceptor_.get_executor(), [self = shared_from_this()] {
    error_code ignored;
    self->acceptor_.close(ignored);
    self->pause_.cancel();
  });
  for (const auto& connection : all()) connection->close_if_idle();
}

void HttpServer::Implementation::stop() {
  drain();
  for (const auto& connection : all()) connection->close_now();
  // The threads run meanwhile: handlers may still write to closed connections, and each queued write keeps one alive.
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  while (size() > 0 && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  work_.reset();
  io_.stop();
  for (std::thread& t : threads_) t.join();
  threads_.clear();
  stop_posting();
  // Queued calls hold connections, which hold this object: they run here, since otherwise they would never be freed.
  io_.restart();
  io_.poll();
}

HttpServer::HttpServer(const HttpServerOptions& options, Handler handler)
    : implementation_(std::make_shared<Implementation>(options, std::move(handler))) {
  implementation_->start();
}

HttpServer::~HttpServer() {
  implementation_->stop();
}

std::uint16_t HttpServer::port() const {
  return implementation_->port();
}

std::size_t HttpServer::connections() const {
  return implementation_->size();
}

void HttpServer::drain() {
  implementation_->drain();
}

void HttpServer::check_certificate(const std::string& certificate_file, const std::string& key_file) {
  static_cast<void>(tls_context(certificate_file, key_file));
}

void HttpServer::reload_certificate() {
  implementation_->reload_certificate();
}

}  // namespace tril::serve
