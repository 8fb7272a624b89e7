#include "serve/http/http_connection.h"

#include <algorithm>
#include <array>
#include <boost/asio.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <optional>

#include "base/error.h"

namespace tril::serve {
namespace {

namespace net = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using boost::system::error_code;
using net::ip::tcp;
using Parser = http::request_parser<http::string_body>;

constexpr std::size_t read_bytes = std::size_t{16} << 10;
constexpr std::size_t most_ahead = std::size_t{64} << 10;  // bytes of later requests read while one is answered

// Converts a message to a request; nothing if its address is malformed.
std::optional<HttpRequest> request_of(http::request<http::string_body> message) {
  std::string_view target(message.target().data(), message.target().size());
  // Requests to a proxy may contain the full address (RFC 9112, 3.2.2).
  for (const std::string_view scheme : {"http://", "https://"})
    if (target.starts_with(scheme)) {
      target.remove_prefix(std::min(target.size(), target.find('/', scheme.size())));
      if (target.empty()) target = "/";
    }
  const std::size_t question = target.find('?');
  const auto path = url_decoded(target.substr(0, question));
  auto query = parse_query(question == std::string_view::npos ? std::string_view() : target.substr(question + 1));
  if (!path || target.empty() || target[0] != '/') return std::nullopt;
  HttpRequest request;
  request.method = std::string(message.method_string());
  request.path = *path;
  request.query = std::move(query);
  if (question != std::string_view::npos) request.query_text = target.substr(question + 1);
  for (const auto& field : message) {
    const auto name = field.name_string();
    request.headers.emplace_back(lower({name.data(), name.size()}), std::string(field.value()));
  }
  request.body = std::move(message.body());
  return request;
}

// The fault in how a message marks the end of its body, null if none: another reader, such as a proxy, must not see
// another end (RFC 9112, 6.1 and 6.3).
const char* unclear_body(const http::request<http::string_body>& message) {
  const auto codings = message.count(http::field::transfer_encoding);
  if (codings > 0 && (codings > 1 || !beast::iequals(message[http::field::transfer_encoding], "chunked")))
    return "Transfer-Encoding: only chunked is supported";
  if (codings > 0 && message.count(http::field::content_length) > 0)
    return "Transfer-Encoding and Content-Length must not be combined";
  if (message.count(http::field::host) > 1) return "Host is given twice";
  return nullptr;
}

std::string head_of(const HttpResponse& r, bool keep_alive, std::optional<std::size_t> length, bool chunked) {
  std::string head = fmt::format("HTTP/1.1 {} {}\r\n", r.status, reason_of(r.status));
  if (!r.content_type.empty()) head += "Content-Type: " + r.content_type + "\r\n";
  for (const auto& [name, value] : r.headers) head += name + ": " + value + "\r\n";
  if (length) head += fmt::format("Content-Length: {}\r\n", *length);
  if (chunked) head += "Transfer-Encoding: chunked\r\n";
  head += keep_alive ? "Connection: keep-alive\r\n\r\n" : "Connection: close\r\n\r\n";
  return head;
}

// Replaces characters that cannot be in quotes.
std::string quotable(std::string text) {
  std::erase_if(text, [](unsigned char c) { return c < 0x20 || c == '"' || c == '\\' || c > 0x7e; });
  return text;
}

// One connection. Everything except the responders runs in its strand.
class Connection : public HttpConnection, public std::enable_shared_from_this<Connection> {
 public:
  Connection(std::shared_ptr<HttpHost> server, std::unique_ptr<Transport> transport)
      : server_(std::move(server)),
        transport_(std::move(transport)),
        strand_(transport_->socket().get_executor()),
        timer_(strand_) {
    error_code error;
    const auto end = transport_->socket().remote_endpoint(error);
    if (!error) address_ = end.address().to_string();
    transport_->socket().set_option(tcp::no_delay(true), error);
  }
  ~Connection() override {
    end_upload();  // one that was not closed
    server_->forget(this);
  }

  void start() override {
    net::dispatch(strand_, [self = shared_from_this()] {
      self->deadline(self->server_->options.head_seconds);
      self->transport_->handshake([self](error_code error) {
        net::dispatch(self->strand_, [self, error] { error ? self->close() : self->next_request(); });
      });
    });
  }
  void close_if_idle() override {
    net::post(strand_, [self = shared_from_this()] {
      if (self->state_ == State::idle) self->close();
    });
  }
  void close_now() override {
    net::post(strand_, [self = shared_from_this()] { self->close(); });
  }
  Phase phase() const override {
    return state_ == State::idle ? Phase::idle : state_ == State::reading ? Phase::reading : Phase::other;
  }
  std::chrono::steady_clock::time_point begun() const override { return begun_reading_; }
  void give_place(Phase phase, std::function<void(bool)> tell) override {
    net::post(strand_, [self = shared_from_this(), phase, tell = std::move(tell)] {
      const bool may = self->phase() == phase && !self->giving_place_;
      if (may && phase == Phase::idle) return self->stop_reading(tell);
      if (may) self->close();
      tell(may);
    });
  }

 private:
  enum class State : std::uint8_t { opening, idle, reading, answering, ending, closed };
  class Answer;
  const HttpServerOptions& options() const { return server_->options; }

  // --- time ---

  void deadline(double seconds) {
    using std::chrono::duration, std::chrono::duration_cast, std::chrono::milliseconds;
    timer_.expires_after(duration_cast<milliseconds>(duration<double>(seconds)));
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
    if (state_ == State::reading) return refuse(408, "the request took too long to arrive");
    close();
  }

  // --- reading ---

  void next_request() {
    if (state_ == State::closed) return;
    if (server_->draining() && buffer_.size() == 0) return close();
    state_ = State::idle;
    parser_.emplace();
    parser_->header_limit(static_cast<std::uint32_t>(options().most_head_bytes));
    parser_->body_limit(most_of_any_body());  // until the address is known
    parser_->eager(true);
    told_to_go_on_ = false;
    deadline(options().idle_seconds);
    if (buffer_.size() > 0) return parse();
    if (!reading_) read();
  }

  void read() {
    reading_ = true;
    // Reads into separate memory: the buffer is parsed, and moves, in the meantime.
    transport_->read_some(net::buffer(fresh_), [self = shared_from_this()](error_code error, std::size_t n) {
      self->reading_ = false;
      self->buffer_.commit(net::buffer_copy(self->buffer_.prepare(n), net::buffer(self->fresh_, n)));
      self->has_read(error);
    });
  }

  // Bytes may have left the socket although their read is not reported yet: the result of the cancelled read shows it.
  void stop_reading(std::function<void(bool)> tell) {
    if (!reading_ || has_unread()) return tell(false);
    giving_place_ = std::move(tell);
    error_code ignored;
    transport_->socket().cancel(ignored);
  }
  bool has_unread() {
    error_code ignored;
    return transport_->socket().available(ignored) > 0;
  }

  void has_read(error_code error) {
    if (const auto tell = std::exchange(giving_place_, {})) {
      const bool began = error == net::error::operation_aborted && has_unread();
      if (error && !began) close();
      tell(error && !began);
      if (began) return read();
    }
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
      begun_reading_ = std::chrono::steady_clock::now();
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
    if (error == http::error::header_limit) return refuse(431, "the request header is too large");
    if (error == http::error::body_limit) return refuse_large();
    if (error) return refuse(400, "this is not HTTP: " + error.message());
    if (!had_head && parser_->is_header_done())
      if (const char* const wrong = unclear_body(parser_->get())) return refuse(400, wrong);
    if (!had_head && parser_->is_header_done() && !begin_body()) return;
    if (parser_->is_header_done() && parser_->get().body().size() > most_of_body()) return refuse_large();
    if (!had_head && parser_->is_header_done() && !parser_->is_done()) {
      deadline(upload_ > 0 ? options().upload_seconds : options().body_seconds);
      if (!told_to_go_on_ && beast::iequals(parser_->get()[http::field::expect], "100-continue")) {
        told_to_go_on_ = true;
        out_ += "HTTP/1.1 100 Continue\r\n\r\n";
        write();
      }
    }
    if (parser_->is_done()) return dispatch();
    // While a body is read, the buffer holds only an incomplete chunk header or trailer.
    if (parser_->is_header_done() && buffer_.size() > options().most_head_bytes)
      return refuse(431, "the chunk extensions of the request body are too large");
    if (!reading_) read();
  }

  std::size_t most_of_any_body() const {
    return options().takes_uploads ? std::max(options().most_body_bytes, options().upload_bytes)
                                   : options().most_body_bytes;
  }
  // The limit of the body for its address.
  std::size_t most_of_body() const {
    return options().takes_uploads && options().takes_uploads(path()) ? most_of_any_body() : options().most_body_bytes;
  }
  // The path of the request that is read, as it was sent; "" before its first line is complete.
  std::string_view path() const {
    if (!parser_) return "";
    const std::string_view target(parser_->get().target().data(), parser_->get().target().size());
    return target.substr(0, target.find('?'));
  }
  void refuse_large() { refuse(413, fmt::format("the request body is larger than {} bytes", most_of_body())); }

  // Checks the size of the body, and reserves room for a large one. @return false if it was refused
  bool begin_body() {
    const auto length = parser_->content_length();
    // A body in chunks may become as large as it may.
    const std::size_t size = length               ? static_cast<std::size_t>(*length)
                             : parser_->is_done() ? parser_->get().body().size()
                             : parser_->chunked() ? most_of_body()
                                                  : 0;
    if (size <= options().most_body_bytes) return true;
    if (size > most_of_body()) return refuse_large(), false;
    if (!server_->reserve_upload(address_, size))
      return refuse(503, "too many files are being translated; try again later"), false;
    upload_ = size;
    return true;
  }
  void end_upload() {
    if (upload_ > 0) server_->release_upload(address_, std::exchange(upload_, 0));
  }

  void dispatch();

  // --- answering; see Answer ---

  void send(std::uint64_t number, const HttpResponse& r) {
    if (number != number_ || state_ != State::answering) return;
    if (begun_) {  // the client must not take an incomplete stream for complete
      if (!complete_) close();
      return;
    }
    keep_alive_ = keep_alive_ && !server_->draining();
    begun_ = true;
    out_ += head_of(r, keep_alive_, r.status == 204 ? std::nullopt : std::optional(r.body.size()), false);
    if (!head_only_) out_ += r.body;
    complete();
  }
  void begin(std::uint64_t number, const HttpResponse& r) {
    if (number != number_ || state_ != State::answering || begun_) return;
    begun_ = stream_ = true;
    keep_alive_ = keep_alive_ && chunked_ && !server_->draining();
    out_ += head_of(r, keep_alive_, std::nullopt, chunked_);
    more(number, r.body);
    write();
  }
  void more(std::uint64_t number, std::string_view text) {
    if (number != number_ || state_ != State::answering || !stream_ || complete_ || text.empty() || head_only_) return;
    if (out_.size() + in_flight_.size() - in_flight_sent_ + text.size() > options().most_unsent_bytes)
      return close();  // the client does not read
    if (chunked_) out_ += fmt::format("{:x}\r\n", text.size());
    out_ += text;
    if (chunked_) out_ += "\r\n";
    write();
  }
  void finish(std::uint64_t number) {
    if (number != number_ || state_ != State::answering || !stream_ || complete_) return;
    if (chunked_ && !head_only_) out_ += "0\r\n\r\n";
    complete();
  }
  // Aborts a stream that will not be finished: the client must not take it for complete.
  void abandon(std::uint64_t number) {
    if (number == number_ && state_ == State::answering) close();
  }
  void complete() {
    end_upload();
    complete_ = true;
    on_gone_ = {};
    write();
  }

  void write() {
    if (writing_ || state_ == State::closed) return;
    if (out_.empty()) {
      if (state_ == State::answering && !complete_) no_deadline();  // the next step is the server's
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

  // The whole answer has been sent.
  void answered() {
    complete_ = begun_ = stream_ = false;
    if (state_ != State::answering && state_ != State::reading) return close();
    ++number_;
    if (keep_alive_) return next_request();
    end();
  }

  // Answers an invalid request; the connection is unusable afterwards.
  void refuse(int status, const std::string& why) {
    state_ = State::answering;
    ++number_;
    keep_alive_ = head_only_ = false;
    refused_ = true;
    const std::string body =
        options().refusal
            ? options().refusal(path(), status, quotable(why))
            : fmt::format("{{\"error\":{{\"message\":\"{}\",\"type\":\"invalid_request_error\"}}}}", quotable(why));
    send(number_, {.status = status, .body = body});
  }

  // Sends no more, and waits a moment for the client to read everything: closing the socket while the client is still
  // sending could discard the answer.
  void end() {
    state_ = State::ending;
    transport_->end_sending();
    deadline(refused_ ? 2 : 0.2);  // after a complete request, little more can be in transit
    buffer_.consume(buffer_.size());
    if (!reading_) read();
  }
  void close() {
    if (state_ == State::closed) return;
    state_ = State::closed;
    end_upload();
    no_deadline();
    error_code ignored;
    transport_->socket().shutdown(tcp::socket::shutdown_both, ignored);
    transport_->socket().close(ignored);
    if (const auto tell = std::exchange(on_gone_, {})) tell();
  }

  std::shared_ptr<HttpHost> server_;
  std::unique_ptr<Transport> transport_;
  net::any_io_executor strand_;  ///< the strand into which the socket was accepted
  net::steady_timer timer_;
  std::uint64_t timer_number_ = 0;
  std::string address_;
  std::atomic<State> state_ = State::opening;
  std::atomic<std::chrono::steady_clock::time_point> begun_reading_ = {};
  std::function<void(bool)> giving_place_;  ///< receives whether an idle connection was closed; usually empty
  std::array<char, read_bytes> fresh_;      ///< the read in progress
  beast::flat_buffer buffer_;               ///< read but not yet parsed; at most most_ahead and one read
  std::optional<Parser> parser_;
  bool reading_ = false, told_to_go_on_ = false;
  std::size_t upload_ = 0;  ///< bytes reserved for the body of the current request

  std::uint64_t number_ = 0;  // of the request being answered
  bool keep_alive_ = false, chunked_ = false, head_only_ = false;
  bool begun_ = false, stream_ = false, complete_ = false, writing_ = false, refused_ = false;
  std::string out_, in_flight_;
  std::size_t in_flight_sent_ = 0;
  std::function<void()> on_gone_;
};

// The handler's side of an answer: every call is forwarded to the connection's strand.
class Connection::Answer : public Responder {
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

void Connection::dispatch() {
  state_ = State::answering;
  no_deadline();
  http::request<http::string_body> message = parser_->release();
  const auto answer = std::make_shared<Answer>(shared_from_this(), number_);
  keep_alive_ = message.keep_alive();
  chunked_ = message.version() >= 11;
  head_only_ = message.method() == http::verb::head;
  std::optional<HttpRequest> request = request_of(std::move(message));
  if (!reading_ && buffer_.size() < most_ahead) read();  // detects when the client goes away
  if (!request) {
    answer->send(
        {.status = 400, .body = R"({"error":{"message":"the URL is malformed","type":"invalid_request_error"}})"});
    return;
  }
  request->address = address_;
  request->secure = transport_->secure();
  server_->handle(std::move(*request), answer);
}

}  // namespace

std::shared_ptr<HttpConnection> make_connection(const std::shared_ptr<HttpHost>& server,
                                                std::unique_ptr<Transport> transport) {
  const auto connection = std::make_shared<Connection>(server, std::move(transport));
  server->add(connection);
  return connection;
}

}  // namespace tril::serve
