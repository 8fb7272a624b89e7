// The bytes of a connection as requests, one after the other, within the server's limits of size.
#pragma once

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "serve/http/http_message.h"
#include "serve/http/http_server.h"

namespace tril::serve {

class RequestReader {
 public:
  /// @param options  must outlive the object
  explicit RequestReader(const HttpServerOptions& options) : options_(options) {}

  /// Begins to read the next request; bytes that have been added stay.
  void begin();
  void add(const char* bytes, std::size_t n);
  /// Discards the bytes that have not been parsed.
  void discard() { buffer_.consume(buffer_.size()); }
  /// Bytes that have been added and not parsed.
  std::size_t waiting() const { return buffer_.size(); }

  /// Why a request is not answered by its handler.
  struct Refusal {
    int status;
    std::string why;
  };
  /// Parses what has been added. @return nothing if it is a request, or the beginning of one
  std::optional<Refusal> parse();
  /// After parse(), once its caller knows the limit of the body: whether the request is within all limits.
  std::optional<Refusal> check_sizes() const;
  Refusal too_large() const;

  bool has_head() const { return parser_->is_header_done(); }
  bool is_done() const { return parser_->is_done(); }
  /// True if the client waits for "100 Continue" before it sends the body.
  bool expects_to_be_told() const;
  /// The path of the request, as it was sent; "" before its first line is complete.
  std::string_view path() const;
  /// The limit of the body for its address.
  std::size_t most_of_body() const;
  /// The size of the body, or the size that it may reach if it is not known yet.
  std::size_t size_to_expect() const;
  std::size_t body_size() const { return parser_->get().body().size(); }
  /// The head, and at most this many bytes of the body, which may not be complete.
  HttpMessage so_far(std::size_t most) const;
  /// The complete request.
  HttpMessage take() { return parser_->release(); }

 private:
  std::size_t most_of_any_body() const;

  const HttpServerOptions& options_;
  boost::beast::flat_buffer buffer_;
  std::optional<boost::beast::http::request_parser<boost::beast::http::string_body>> parser_;
};

}  // namespace tril::serve
