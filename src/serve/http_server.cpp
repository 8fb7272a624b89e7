#include "serve/http_server.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <boost/asio.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <list>
#include <mutex>
#include <shared_mutex>
#include <thread>

#include "base/error.h"

namespace tril::serve {
namespace {

namespace net = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using boost::system::error_code;
using net::ip::tcp;
using Parser = http::request_parser<http::string_body>;

constexpr std::size_t read_bytes = 16 * 1024;
constexpr std::size_t most_ahead = 64 * 1024;  // bytes of later requests that are read while one is answered

std::chrono::milliseconds milliseconds(double seconds) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
}

// A socket, with TLS or without.
class Transport {
 public:
  using OnBytes = std::function<void(error_code, std::size_t)>;
  virtual ~Transport() = default;
  virtual tcp::socket& socket() = 0;
  virtual void handshake(std::function<void(error_code)> f) = 0;
  virtual void read_some(net::mutable_buffer buffer, OnBytes f) = 0;
  virtual void write_some(net::const_buffer buffer, OnBytes f) = 0;
  virtual bool secure() const = 0;
  /// Says that no more is sent.
  virtual void end_sending() {
    error_code ignored;
    socket().shutdown(tcp::socket::shutdown_send, ignored);
  }
};

class Plain : public Transport {
 public:
  explicit Plain(tcp::socket socket) : socket_(std::move(socket)) {}
  tcp::socket& socket() override { return socket_; }
  void handshake(std::function<void(error_code)> f) override { f({}); }
  void read_some(net::mutable_buffer buffer, OnBytes f) override { socket_.async_read_some(buffer, std::move(f)); }
  void write_some(net::const_buffer buffer, OnBytes f) override { socket_.async_write_some(buffer, std::move(f)); }
  bool secure() const override { return false; }

 private:
  tcp::socket socket_;
};

class Tls : public Transport {
 public:
  Tls(tcp::socket socket, std::shared_ptr<net::ssl::context> context)
      : context_(std::move(context)), stream_(std::move(socket), *context_) {}
  tcp::socket& socket() override { return stream_.next_layer(); }
  void handshake(std::function<void(error_code)> f) override {
    stream_.async_handshake(net::ssl::stream_base::server, std::move(f));
  }
  void read_some(net::mutable_buffer buffer, OnBytes f) override { stream_.async_read_some(buffer, std::move(f)); }
  void write_some(net::const_buffer buffer, OnBytes f) override { stream_.async_write_some(buffer, std::move(f)); }
  bool secure() const override { return true; }

 private:
  std::shared_ptr<net::ssl::context> context_;  // outlives the stream, whatever becomes of the server's
  net::ssl::stream<tcp::socket> stream_;
};

std::shared_ptr<net::ssl::context> tls_context(const HttpServerOptions& o) {
  if (o.certificate_file.empty() && o.key_file.empty()) return nullptr;
  if (o.certificate_file.empty() || o.key_file.empty())
    fail_usage("TLS", "needs a certificate and its key, one of them is missing", "give both files");
  auto context = std::make_shared<net::ssl::context>(net::ssl::context::tls_server);
  context->set_options(net::ssl::context::default_workarounds | net::ssl::context::no_sslv2 |
                       net::ssl::context::no_sslv3 | net::ssl::context::no_tlsv1 | net::ssl::context::no_tlsv1_1);
  error_code error;
  context->use_certificate_chain_file(o.certificate_file, error);
  if (error) fail(o.certificate_file, "is no certificate chain in PEM: " + error.message());
  context->use_private_key_file(o.key_file, net::ssl::context::pem, error);
  if (error) fail(o.key_file, "is no private key in PEM that goes with the certificate: " + error.message());
  return context;
}

}  // namespace

class HttpServer::Implementation : public std::enable_shared_from_this<Implementation> {
 public:
  Implementation(const HttpServerOptions& o, Handler handler)
      : options(o), handle(std::move(handler)), acceptor_(io_), pause_(io_), work_(io_.get_executor()) {
    context_ = tls_context(options);
    error_code error;
    const net::ip::address address = net::ip::make_address(o.address, error);
    if (error)
      fail_usage("address", "expected numbers like 127.0.0.1 or ::1, got " + o.address,
                 "localhost is 127.0.0.1, every address of the machine is 0.0.0.0");
    const tcp::endpoint endpoint(address, o.port);
    const auto must = [&](const char* what) {
      if (error) fail(fmt::format("{}:{}", o.address, o.port), fmt::format("cannot {}: {}", what, error.message()));
    };
    acceptor_.open(endpoint.protocol(), error), must("be opened");
    acceptor_.set_option(tcp::acceptor::reuse_address(true), error), must("be opened");
    acceptor_.bind(endpoint, error), must("be taken");
    acceptor_.listen(net::socket_base::max_listen_connections, error), must("be listened on");
  }

  void start() {
    accept();
    for (int i = 0; i < options.threads; ++i) threads_.emplace_back([this] { io_.run(); });
  }
  void stop();
  void drain();
  std::uint16_t port() const { return acceptor_.local_endpoint().port(); }
  std::size_t connections() const {
    const std::lock_guard lock(mutex_);
    return connections_.size();
  }
  void reload_certificate() {
    auto fresh = tls_context(options);
    const std::lock_guard lock(mutex_);
    context_ = std::move(fresh);
  }
  bool draining() const { return draining_; }
  /// Has f called in `strand`, unless the server has stopped.
  template <class Strand, class F>
  void post(const Strand& strand, F f) {
    const std::shared_lock lock(gate_);
    if (!stopped_) net::post(strand, std::move(f));
  }

  const HttpServerOptions options;
  const Handler handle;

 private:
  class Connection;
  void accept();
  void take(tcp::socket socket);
  void forget(Connection* connection) {
    const std::lock_guard lock(mutex_);
    connections_.remove_if([&](const auto& c) { return c.first == connection; });
  }
  std::vector<std::shared_ptr<Connection>> all();

  net::io_context io_;
  tcp::acceptor acceptor_;
  net::steady_timer pause_;
  net::executor_work_guard<net::io_context::executor_type> work_;
  std::vector<std::thread> threads_;
  mutable std::mutex mutex_;
  std::shared_ptr<net::ssl::context> context_;
  std::list<std::pair<Connection*, std::weak_ptr<Connection>>> connections_;  // the one that came first first
  std::atomic<bool> draining_ = false;
  std::shared_mutex gate_;
  bool stopped_ = false;  ///< guarded by gate_: nothing more is queued
};

// One connection. All of it but the responders runs in its strand.
class HttpServer::Implementation::Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(std::shared_ptr<Implementation> server, std::unique_ptr<Transport> transport)
      : server_(std::move(server)),
        transport_(std::move(transport)),
        strand_(transport_->socket().get_executor()),
        timer_(strand_) {
    error_code error;
    const auto end = transport_->socket().remote_endpoint(error);
    if (!error) address_ = end.address().to_string();
    transport_->socket().set_option(tcp::no_delay(true), error);
  }
  ~Connection() { server_->forget(this); }

  void start() {
    net::dispatch(strand_, [self = shared_from_this()] {
      self->deadline(self->server_->options.head_seconds);
      self->transport_->handshake([self](error_code error) {
        net::dispatch(self->strand_, [self, error] { error ? self->close() : self->next_request(); });
      });
    });
  }
  /// Closes it if no request has begun to come.
  void close_if_idle() {
    net::post(strand_, [self = shared_from_this()] {
      if (self->state_ == State::idle) self->close();
    });
  }
  void close_now() {
    net::post(strand_, [self = shared_from_this()] { self->close(); });
  }
  bool is_idle() const { return state_ == State::idle; }

 private:
  enum class State : std::uint8_t { opening, idle, reading, answering, ending, closed };
  class Answer;
  const HttpServerOptions& options() const { return server_->options; }

  // --- time ---

  void deadline(double seconds) {
    timer_.expires_after(milliseconds(seconds));
    timer_.async_wait([weak = weak_from_this(), number = ++timer_number_](error_code error) {
      const auto self = weak.lock();
      if (!error && self && self->timer_number_ == number) self->late();
    });
  }
  void no_deadline() {
    ++timer_number_;
    timer_.cancel();
  }
  void late() {
    if (state_ == State::reading) return refuse(408, "the request took too long to come");
    close();
  }

  // --- reading ---

  void next_request() {
    if (state_ == State::closed) return;
    if (server_->draining() && buffer_.size() == 0) return close();
    state_ = State::idle;
    parser_.emplace();
    parser_->header_limit(static_cast<std::uint32_t>(options().most_head_bytes));
    parser_->body_limit(options().most_body_bytes);
    parser_->eager(true);
    told_to_go_on_ = false;
    deadline(options().idle_seconds);
    if (buffer_.size() > 0) return parse();
    if (!reading_) read();
  }

  void read() {
    reading_ = true;
    // Into room of its own: what is in the buffer is parsed, and moves, while this waits.
    transport_->read_some(net::buffer(fresh_), [self = shared_from_this()](error_code error, std::size_t n) {
      self->reading_ = false;
      self->buffer_.commit(net::buffer_copy(self->buffer_.prepare(n), net::buffer(self->fresh_, n)));
      self->has_read(error);
    });
  }

  void has_read(error_code error) {
    if (state_ == State::closed) return;
    if (state_ == State::ending) {
      buffer_.consume(buffer_.size());
      return error ? close() : read();
    }
    if (error) return close();
    if (state_ == State::answering) {
      if (buffer_.size() < most_ahead) read();
      return;
    }
    parse();
  }

  void parse() {
    if (state_ == State::idle) {
      state_ = State::reading;
      deadline(options().head_seconds);
    }
    error_code error;
    const bool had_head = parser_->is_header_done();
    while (buffer_.size() > 0 && !parser_->is_done()) {
      const std::size_t used = parser_->put(buffer_.data(), error);
      buffer_.consume(used);
      if (error) break;
    }
    if (error == http::error::need_more) error = {};
    if (error == http::error::header_limit) return refuse(431, "the request's head is too large");
    if (error == http::error::body_limit)
      return refuse(413, fmt::format("the request's body is larger than {} bytes", options().most_body_bytes));
    if (error) return refuse(400, "this is not HTTP: " + error.message());
    if (!had_head && parser_->is_header_done() && !parser_->is_done()) {
      deadline(options().body_seconds);
      if (!told_to_go_on_ && parser_->get()[http::field::expect] == "100-continue") {
        told_to_go_on_ = true;
        out_ += "HTTP/1.1 100 Continue\r\n\r\n";
        write();
      }
    }
    if (parser_->is_done()) return dispatch();
    if (!reading_) read();
  }

  void dispatch();

  // --- answering; see Answer ---

  static std::string head_of(const HttpResponse& r, bool keep_alive, std::optional<std::size_t> length, bool chunked) {
    std::string head = fmt::format("HTTP/1.1 {} {}\r\n", r.status, reason_of(r.status));
    if (!r.content_type.empty()) head += "Content-Type: " + r.content_type + "\r\n";
    for (const auto& [name, value] : r.headers) head += name + ": " + value + "\r\n";
    if (length) head += fmt::format("Content-Length: {}\r\n", *length);
    if (chunked) head += "Transfer-Encoding: chunked\r\n";
    head += keep_alive ? "Connection: keep-alive\r\n\r\n" : "Connection: close\r\n\r\n";
    return head;
  }

  void send(std::uint64_t number, HttpResponse r) {
    if (number != number_ || state_ != State::answering) return;
    if (begun_) {  // a stream that cannot go on: the other end must not take it for whole
      if (!complete_) close();
      return;
    }
    keep_alive_ = keep_alive_ && !server_->draining();
    begun_ = true;
    out_ += head_of(r, keep_alive_, r.status == 204 ? std::nullopt : std::optional(r.body.size()), false);
    if (!head_only_) out_ += r.body;
    complete();
  }
  void begin(std::uint64_t number, HttpResponse r) {
    if (number != number_ || state_ != State::answering || begun_) return;
    begun_ = stream_ = true;
    keep_alive_ = keep_alive_ && chunked_ && !server_->draining();
    out_ += head_of(r, keep_alive_, std::nullopt, chunked_);
    more(number, r.body);
    write();
  }
  void more(std::uint64_t number, std::string_view text) {
    if (number != number_ || state_ != State::answering || !stream_ || text.empty() || head_only_) return;
    if (out_.size() + in_flight_.size() - in_flight_sent_ + text.size() > options().most_unsent_bytes)
      return close();  // it does not listen
    if (chunked_) out_ += fmt::format("{:x}\r\n", text.size());
    out_ += text;
    if (chunked_) out_ += "\r\n";
    write();
  }
  void finish(std::uint64_t number) {
    if (number != number_ || state_ != State::answering || !stream_) return;
    if (chunked_ && !head_only_) out_ += "0\r\n\r\n";
    complete();
  }
  // A stream that nobody will finish: the other end must not take it for whole.
  void abandon(std::uint64_t number) {
    if (number == number_ && state_ == State::answering) close();
  }
  void complete() {
    complete_ = true;
    on_gone_ = {};
    write();
  }

  void write() {
    if (writing_ || state_ == State::closed) return;
    if (out_.empty()) {
      if (state_ == State::answering && !complete_) no_deadline();  // it is our turn
      if (complete_) answered();
      return;
    }
    writing_ = true;
    in_flight_.swap(out_);
    in_flight_sent_ = 0;
    write_in_flight();
  }
  void write_in_flight() {
    if (state_ != State::reading) deadline(options().write_seconds);
    transport_->write_some(net::buffer(in_flight_.data() + in_flight_sent_, in_flight_.size() - in_flight_sent_),
                           [self = shared_from_this()](error_code error, std::size_t n) {
                             if (self->state_ == State::closed) return;
                             if (error) return self->close();
                             self->in_flight_sent_ += n;
                             if (self->in_flight_sent_ < self->in_flight_.size()) return self->write_in_flight();
                             self->in_flight_.clear();
                             self->in_flight_sent_ = 0;
                             self->writing_ = false;
                             self->write();
                           });
  }

  // The whole answer is on its way.
  void answered() {
    complete_ = begun_ = stream_ = false;
    if (state_ != State::answering && state_ != State::reading) return close();
    ++number_;
    if (keep_alive_) return next_request();
    end();
  }

  // An answer to what is no request; the connection is of no more use.
  void refuse(int status, const std::string& why) {
    state_ = State::answering;
    ++number_;
    keep_alive_ = head_only_ = false;
    refused_ = true;
    const std::string body =
        fmt::format("{{\"error\":{{\"message\":\"{}\",\"type\":\"invalid_request_error\"}}}}", printable(why));
    send(number_, {.status = status, .body = body});
  }
  static std::string printable(std::string text) {
    std::erase_if(text, [](unsigned char c) { return c < 0x20 || c == '"' || c == '\\' || c > 0x7e; });
    return text;
  }

  // Sends no more, and waits a moment for the other end to have read all, which it might not if the socket were closed on
  // what it is still sending.
  void end() {
    state_ = State::ending;
    transport_->end_sending();
    deadline(refused_ ? 2 : 0.2);  // of a request that was read as a whole little more can be on its way
    buffer_.consume(buffer_.size());
    if (!reading_) read();
  }
  void close() {
    if (state_ == State::closed) return;
    state_ = State::closed;
    no_deadline();
    error_code ignored;
    transport_->socket().shutdown(tcp::socket::shutdown_both, ignored);
    transport_->socket().close(ignored);
    if (const auto tell = std::exchange(on_gone_, {})) tell();
  }

  std::shared_ptr<Implementation> server_;
  std::unique_ptr<Transport> transport_;
  net::any_io_executor strand_;  ///< the socket's, which was accepted into a strand of its own
  net::steady_timer timer_;
  std::uint64_t timer_number_ = 0;
  std::string address_;
  std::atomic<State> state_ = State::opening;
  std::array<char, read_bytes> fresh_;  ///< what is being read
  beast::flat_buffer buffer_;           ///< what was read and is still to be parsed; most_ahead and a read at most
  std::optional<Parser> parser_;
  bool reading_ = false, told_to_go_on_ = false;

  std::uint64_t number_ = 0;  // of the request that is answered
  bool keep_alive_ = false, chunked_ = false, head_only_ = false;
  bool begun_ = false, stream_ = false, complete_ = false, writing_ = false, refused_ = false;
  std::string out_, in_flight_;
  std::size_t in_flight_sent_ = 0;
  std::function<void()> on_gone_;
};

// The handler's end of an answer: every call goes to the connection's strand.
class HttpServer::Implementation::Connection::Answer : public Responder {
 public:
  Answer(std::shared_ptr<Connection> connection, std::uint64_t number)
      : connection_(std::move(connection)), number_(number) {}
  ~Answer() override {
    if (!answered_)
      post([](Connection& c, std::uint64_t n) { c.send(n, {.status = 500, .body = "{}"}); });
    else if (!finished_)
      post([](Connection& c, std::uint64_t n) { c.abandon(n); });
  }
  void send(HttpResponse r) override {
    answered_ = finished_ = true;
    post([r = std::move(r)](Connection& c, std::uint64_t n) { c.send(n, r); });
  }
  void begin(HttpResponse r) override {
    answered_ = true;
    post([r = std::move(r)](Connection& c, std::uint64_t n) { c.begin(n, r); });
  }
  void write(std::string_view more) override {
    post([text = std::string(more)](Connection& c, std::uint64_t n) { c.more(n, text); });
  }
  void finish() override {
    finished_ = true;
    post([](Connection& c, std::uint64_t n) { c.finish(n); });
  }
  void on_gone(std::function<void()> f) override {
    post([f = std::move(f)](Connection& c, std::uint64_t n) {
      if (c.state_ == State::closed)
        f();
      else if (c.number_ == n && !c.complete_)
        c.on_gone_ = f;
    });
  }

 private:
  template <class F>
  void post(F f) {
    connection_->server_->post(connection_->strand_, [c = connection_, n = number_, f = std::move(f)] { f(*c, n); });
  }
  std::shared_ptr<Connection> connection_;
  std::uint64_t number_;
  std::atomic<bool> answered_ = false, finished_ = false;
};

void HttpServer::Implementation::Connection::dispatch() {
  state_ = State::answering;
  no_deadline();
  http::request<http::string_body> message = parser_->release();
  const auto answer = std::make_shared<Answer>(shared_from_this(), number_);
  keep_alive_ = message.keep_alive();
  chunked_ = message.version() >= 11;
  head_only_ = message.method() == http::verb::head;

  HttpRequest request;
  request.method = std::string(message.method_string());
  request.address = address_;
  request.secure = transport_->secure();
  for (const auto& field : message) {
    std::string name(field.name_string());
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
    request.headers.emplace_back(std::move(name), std::string(field.value()));
  }
  const std::string_view target(message.target().data(), message.target().size());
  const std::size_t question = target.find('?');
  const auto path = url_decoded(target.substr(0, question), false);
  const auto query = parse_query(question == std::string_view::npos ? std::string_view() : target.substr(question + 1));
  request.body = std::move(message.body());
  if (!reading_ && buffer_.size() < most_ahead) read();  // to see whether it goes away
  if (!path || !query || target.empty() || target[0] != '/') {
    answer->send({.status = 400,
                  .body = R"({"error":{"message":"the address is not well formed","type":"invalid_request_error"}})"});
    return;
  }
  request.path = *path;
  request.query = *query;
  server_->handle(std::move(request), answer);
}

std::vector<std::shared_ptr<HttpServer::Implementation::Connection>> HttpServer::Implementation::all() {
  std::vector<std::shared_ptr<Connection>> list;
  const std::lock_guard lock(mutex_);
  for (const auto& [address, weak] : connections_)
    if (auto connection = weak.lock()) list.push_back(std::move(connection));
  return list;
}

void HttpServer::Implementation::accept() {
  acceptor_.async_accept(net::make_strand(io_), [self = this](error_code error, tcp::socket socket) {
    if (self->draining_ || error == net::error::operation_aborted) return;
    if (error) {  // no more files may be open, say: others will be closed
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

void HttpServer::Implementation::take(tcp::socket socket) {
  std::shared_ptr<net::ssl::context> context;
  bool full = false;
  {
    const std::lock_guard lock(mutex_);
    context = context_;
    full = connections_.size() >= options.most_connections;
  }
  if (full) {  // whoever has nothing to say makes room for one who has
    bool room = false;
    for (const auto& connection : all())
      if (connection->is_idle()) {
        connection->close_if_idle();
        room = true;
        break;
      }
    if (!room) {
      static constexpr std::string_view busy =
          "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
      error_code ignored;
      socket.non_blocking(true, ignored);
      if (!context) socket.write_some(net::buffer(busy.data(), busy.size()), ignored);
      return;
    }
  }
  std::unique_ptr<Transport> transport;
  if (context)
    transport = std::make_unique<Tls>(std::move(socket), context);
  else
    transport = std::make_unique<Plain>(std::move(socket));
  const auto connection = std::make_shared<Connection>(shared_from_this(), std::move(transport));
  {
    const std::lock_guard lock(mutex_);
    connections_.emplace_back(connection.get(), connection);
  }
  connection->start();
}

void HttpServer::Implementation::drain() {
  draining_ = true;
  net::post(io_, [self = shared_from_this()] {
    error_code ignored;
    self->acceptor_.close(ignored);
    self->pause_.cancel();
  });
  for (const auto& connection : all()) connection->close_if_idle();
}

void HttpServer::Implementation::stop() {
  drain();
  for (const auto& connection : all()) connection->close_now();
  work_.reset();
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  while (connections() > 0 && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  io_.stop();
  for (std::thread& t : threads_) t.join();
  threads_.clear();
  {
    const std::unique_lock lock(gate_);
    stopped_ = true;
  }
  // What is queued holds connections, which hold this: it is done here, or nobody would ever free them.
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
  return implementation_->connections();
}

void HttpServer::drain() {
  implementation_->drain();
}

void HttpServer::reload_certificate() {
  implementation_->reload_certificate();
}

}  // namespace tril::serve
