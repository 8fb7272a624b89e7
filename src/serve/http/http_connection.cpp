#include "serve/http/http_connection.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/asio.hpp>
#include <optional>

#include "serve/http/deadline.h"
#include "serve/http/http_message.h"
#include "serve/http/http_responder.h"
#include "serve/http/request_reader.h"
#include "serve/http/send_queue.h"

namespace tril::serve {
namespace {

namespace net = boost::asio;
namespace http = boost::beast::http;
using boost::system::error_code;
using net::ip::tcp;

constexpr std::size_t read_bytes = std::size_t{16} << 10;
constexpr double seconds_between_probes = 1;                // of whether a client that sends no more has gone
constexpr int most_zeros = 8;                               // before the size of a chunk: clients read 16 digits
constexpr std::size_t most_ahead = std::size_t{64} << 10;   // bytes of later requests read while one is answered
constexpr std::size_t most_judged = std::size_t{80} << 10;  // bytes of an upload that judge_upload sees

// One connection. Everything except the responders runs in its strand.
class Connection : public HttpConnection, public AnsweringConnection, public std::enable_shared_from_this<Connection> {
 public:
  Connection(std::shared_ptr<HttpHost> server, std::unique_ptr<Transport> transport)
      : server_(std::move(server)),
        transport_(std::move(transport)),
        strand_(transport_->socket().get_executor()),
        deadline_(strand_),
        next_probe_(strand_),
        request_(server_->options) {
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
      // The end of the server may have looked for its connections before this one was among them.
      if (self->server_->draining()) return self->close();
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
  const HttpServerOptions& options() const { return server_->options; }

  // --- time ---

  void deadline(double seconds) {
    deadline_.set(seconds, weak_from_this(), [this] { late(); });
  }
  void late() {
    if (state_ == State::reading) return refuse({408, "the request took too long to arrive"});
    close();
  }

  // --- reading ---

  void next_request() {
    if (state_ == State::closed) return;
    if ((server_->draining() || sends_no_more_) && request_.waiting() == 0) return close();
    state_ = State::idle;
    request_.begin();
    told_to_go_on_ = false;
    next_judgement_ = 0;
    deadline(options().idle_seconds);
    if (request_.waiting() > 0) return parse();
    if (!reading_) read();
  }

  void read() {
    reading_ = true;
    // Reads into separate memory: the buffer is parsed, and moves, in the meantime.
    transport_->read_some(net::buffer(fresh_), [self = shared_from_this()](error_code error, std::size_t n) {
      self->reading_ = false;
      self->request_.add(self->fresh_.data(), n);
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
      request_.discard();
      return error ? close() : read();
    }
    if (error == net::error::eof && state_ == State::answering) return sent_last();
    if (error) return close();
    if (state_ == State::answering) {
      if (request_.waiting() < most_ahead) read();
      return;
    }
    parse();
  }

  // The client sends no more (over TLS, it has sent close_notify; without it, the connection has broken). Either it waits for its
  // answer, or it has gone: both look the same, but only the machine of a client that has gone resets the connection when more bytes
  // reach it. Before the answer, an interim one is sent, which clients pass over
  // (RFC 9110, 15.2); in a stream, a zero before the size of the next chunk (RFC 9112, 7.1).
  void sent_last() {
    sends_no_more_ = true;
    transport_->socket().async_wait(tcp::socket::wait_error, [weak = weak_from_this()](error_code error) {
      if (const auto self = weak.lock(); self && !error) self->close();
    });
    probe();
  }
  void probe() {
    if (!sends_no_more_ || state_ != State::answering || complete_) return;
    if (chunked_ && !begun_)  // HTTP/1.0 has neither interim answers nor chunks
      queue_.add("HTTP/1.1 100 Continue\r\n\r\n");
    else if (chunked_ && stream_ && !head_only_ && ++zeros_ <= most_zeros)
      queue_.add("0");
    write();
    next_probe_.set(seconds_between_probes, weak_from_this(), [this] { probe(); });
  }

  void parse() {
    if (state_ == State::idle) {
      begun_reading_ = std::chrono::steady_clock::now();
      state_ = State::reading;
      deadline(options().head_seconds);
    }
    const bool had_head = request_.has_head();
    if (const auto refusal = request_.parse()) return refuse(*refusal);
    if (request_.has_head() && refuse_early()) return;
    if (!had_head && request_.has_head() && !begin_body()) return;
    if (const auto refusal = request_.check_sizes()) return refuse(*refusal);
    if (request_.is_done()) return dispatch(request_.take());
    if (!had_head && request_.has_head()) {
      deadline(upload_ > 0 ? options().upload_seconds : options().body_seconds);
      if (!told_to_go_on_ && request_.expects_to_be_told()) {
        told_to_go_on_ = true;
        queue_.add("HTTP/1.1 100 Continue\r\n\r\n");
        write();
      }
    }
    if (sends_no_more_) return close();  // the rest will not come
    if (!reading_) read();
  }

  void tell_origin(HttpRequest& request) const {
    request.address = options().trusted_proxies.client_of(address_, request.headers);
    request.secure = transport_->secure();
    request.is_whole = !refused_;
  }
  // An upload is refused before all of its body has arrived, if what has arrived is reason enough.
  bool refuse_early() {
    if (request_.is_done() || !next_judgement_ || request_.body_size() < *next_judgement_ || !options().judge_upload ||
        !options().takes_uploads || !options().takes_uploads(request_.path()))
      return false;
    const HttpMessage message = request_.so_far(most_judged);
    std::optional<HttpRequest> arrived = request_of(message);
    if (!arrived) return false;
    tell_origin(*arrived);
    const UploadJudgement judgement = options().judge_upload(*arrived);
    next_judgement_.reset();
    if (judgement == UploadJudgement::undecided && request_.body_size() < most_judged)
      next_judgement_ = std::min(2 * request_.body_size() + 1, most_judged);
    if (judgement != UploadJudgement::refuse) return false;
    refused_ = true;
    dispatch(message);
    return true;
  }
  // Checks the size of the body, and reserves room for a large one. @return false if it was refused
  bool begin_body() {
    const std::size_t size = request_.size_to_expect();
    if (size <= options().most_body_bytes) return true;
    if (size > request_.most_of_body()) return refuse(request_.too_large()), false;
    const std::optional<HttpRequest> head = request_of(request_.so_far(0));
    upload_from_ = head ? options().trusted_proxies.client_of(address_, head->headers) : address_;
    if (!server_->reserve_upload(upload_from_, size))
      return refuse({503, "too many files are being translated; try again later"}), false;
    upload_ = size;
    return true;
  }
  void end_upload() {
    if (upload_ > 0) server_->release_upload(upload_from_, std::exchange(upload_, 0));
  }

  void dispatch(HttpMessage message) {
    state_ = State::answering;
    deadline_.clear();
    const auto answer = make_responder(shared_from_this(), number_);
    keep_alive_ = message.keep_alive() && !refused_;
    chunked_ = message.version() >= 11;
    head_only_ = message.method() == http::verb::head;
    std::optional<HttpRequest> request = request_of(std::move(message));
    if (sends_no_more_)
      probe();
    else if (!reading_ && request_.waiting() < most_ahead)
      read();  // detects when the client goes away
    if (!request) {
      answer->send(
          {.status = 400, .body = R"({"error":{"message":"the URL is malformed","type":"invalid_request_error"}})"});
      return;
    }
    tell_origin(*request);
    server_->handle(std::move(*request), answer);
  }

  // Whether no further request can follow.
  bool is_last() const { return sends_no_more_ && request_.waiting() == 0; }

  // --- answering; see http_responder.h ---

  void run(std::function<void()> f) override { server_->post(strand_, std::move(f)); }
  void send(std::uint64_t number, const HttpResponse& r) override {
    if (number != number_ || state_ != State::answering) return;
    if (begun_) {  // the client must not take an incomplete stream for complete
      if (!complete_) close();
      return;
    }
    keep_alive_ = keep_alive_ && !server_->draining() && !is_last();
    begun_ = true;
    queue_.add(head_of(r, keep_alive_, r.status == 204 ? std::nullopt : std::optional(r.body.size()), false));
    if (!head_only_) queue_.add(r.body);
    complete();
  }
  void begin(std::uint64_t number, const HttpResponse& r) override {
    if (number != number_ || state_ != State::answering || begun_) return;
    begun_ = stream_ = true;
    keep_alive_ = keep_alive_ && chunked_ && !server_->draining() && !is_last();
    queue_.add(head_of(r, keep_alive_, std::nullopt, chunked_));
    more(number, r.body);
    write();
  }
  void more(std::uint64_t number, std::string_view text) override {
    if (number != number_ || state_ != State::answering || !stream_ || complete_ || text.empty() || head_only_) return;
    if (queue_.size() + text.size() > options().most_unsent_bytes) return close();  // the client does not read
    if (chunked_) queue_.add(fmt::format("{:x}\r\n", text.size()));
    zeros_ = 0;
    queue_.add(text);
    if (chunked_) queue_.add("\r\n");
    write();
  }
  void finish(std::uint64_t number) override {
    if (number != number_ || state_ != State::answering || !stream_ || complete_) return;
    if (chunked_ && !head_only_) queue_.add("0\r\n\r\n");
    complete();
  }
  void abandon(std::uint64_t number) override {
    if (number == number_ && state_ == State::answering) close();
  }
  void tell_if_gone(std::uint64_t number, const std::function<void()>& f) override {
    if (state_ == State::closed)
      f();
    else if (number == number_ && !complete_)
      on_gone_ = f;
  }
  void complete() {
    end_upload();
    complete_ = true;
    on_gone_ = {};
    write();
  }

  void write() {
    if (queue_.is_sending() || state_ == State::closed) return;
    if (queue_.begin()) return send_rest();
    if (state_ == State::answering && !complete_) deadline_.clear();  // the next step is the server's
    if (complete_) answered();
  }
  void send_rest() {
    if (state_ != State::reading) deadline(options().write_seconds);
    transport_->write_some(queue_.rest(), [self = shared_from_this()](error_code error, std::size_t n) {
      if (self->state_ == State::closed) return;
      if (error) return self->close();
      self->queue_.has_sent(n) ? self->write() : self->send_rest();
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
  void refuse(const RequestReader::Refusal& refusal) {
    const std::string why = quotable(refusal.why);
    state_ = State::answering;
    ++number_;
    keep_alive_ = head_only_ = false;
    refused_ = true;
    const std::string body =
        options().refusal ? options().refusal(request_.path(), refusal.status, why)
                          : fmt::format("{{\"error\":{{\"message\":\"{}\",\"type\":\"invalid_request_error\"}}}}", why);
    send(number_, {.status = refusal.status, .body = body});
  }

  // Sends no more, and waits a moment for the client to read everything: closing the socket while the client is still
  // sending could discard the answer.
  void end() {
    state_ = State::ending;
    transport_->end_sending([self = shared_from_this()](error_code) {});
    deadline(refused_ ? 2 : 0.2);  // after a complete request, little more can be in transit
    request_.discard();
    if (!reading_) read();
  }
  void close() {
    if (state_ == State::closed) return;
    state_ = State::closed;
    end_upload();
    deadline_.clear();
    error_code ignored;
    transport_->socket().shutdown(tcp::socket::shutdown_both, ignored);
    transport_->socket().close(ignored);
    if (const auto tell = std::exchange(on_gone_, {})) tell();
  }

  std::shared_ptr<HttpHost> server_;
  std::unique_ptr<Transport> transport_;
  net::any_io_executor strand_;  ///< the strand into which the socket was accepted
  Deadline deadline_, next_probe_;
  std::string address_, upload_from_;
  std::atomic<State> state_ = State::opening;
  std::atomic<std::chrono::steady_clock::time_point> begun_reading_ = {};
  std::function<void(bool)> giving_place_;  ///< receives whether an idle connection was closed; usually empty
  std::array<char, read_bytes> fresh_;      ///< the read in progress
  RequestReader request_;                   ///< of what is not parsed yet, at most most_ahead and one read
  std::optional<std::size_t>
      next_judgement_;  ///< bytes of the body at which judge_upload is asked next; nothing: no more
  bool reading_ = false, told_to_go_on_ = false, sends_no_more_ = false;
  int zeros_ = 0;           ///< sent before the size of the next chunk
  std::size_t upload_ = 0;  ///< bytes reserved for the body of the current request

  std::uint64_t number_ = 0;  // of the request being answered
  bool keep_alive_ = false, chunked_ = false, head_only_ = false;
  bool begun_ = false, stream_ = false, complete_ = false, refused_ = false;
  SendQueue queue_;
  std::function<void()> on_gone_;
};

}  // namespace

std::shared_ptr<HttpConnection> make_connection(const std::shared_ptr<HttpHost>& server,
                                                std::unique_ptr<Transport> transport) {
  const auto connection = std::make_shared<Connection>(server, std::move(transport));
  server->add(connection);
  return connection;
}

}  // namespace tril::serve
