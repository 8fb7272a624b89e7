#include "serve/http/request_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>

namespace tril::serve {

namespace http = boost::beast::http;

void RequestReader::begin() {
  parser_.emplace();
  parser_->header_limit(static_cast<std::uint32_t>(options_.most_head_bytes));
  parser_->body_limit(most_of_any_body());  // until the address is known
  parser_->eager(true);
}

void RequestReader::add(const char* bytes, std::size_t n) {
  buffer_.commit(boost::asio::buffer_copy(buffer_.prepare(n), boost::asio::buffer(bytes, n)));
}

std::optional<RequestReader::Refusal> RequestReader::parse() {
  boost::system::error_code error;
  const bool had_head = has_head();
  while (buffer_.size() > 0 && !is_done()) {
    const std::size_t used = parser_->put(buffer_.data(), error);
    buffer_.consume(used);
    if (error) break;
  }
  if (error == http::error::need_more) error = {};
  if (error == http::error::header_limit) return Refusal{431, "the request header is too large"};
  if (error == http::error::body_limit) return too_large();
  if (error) return Refusal{400, "this is not HTTP: " + error.message()};
  if (!had_head && has_head())
    if (const char* const wrong = unclear_body(parser_->get())) return Refusal{400, wrong};
  return std::nullopt;
}

std::optional<RequestReader::Refusal> RequestReader::check_sizes() const {
  if (!has_head()) return std::nullopt;
  if (body_size() > most_of_body()) return too_large();
  // While a body is read, the buffer holds only an incomplete chunk header or trailer.
  if (!is_done() && buffer_.size() > options_.most_head_bytes)
    return Refusal{431, "the chunk extensions of the request body are too large"};
  return std::nullopt;
}

RequestReader::Refusal RequestReader::too_large() const {
  return {413, fmt::format("the request body is larger than {} bytes", most_of_body())};
}

bool RequestReader::expects_to_be_told() const {
  return boost::beast::iequals(parser_->get()[http::field::expect], "100-continue");
}

std::string_view RequestReader::path() const {
  if (!parser_) return "";
  const std::string_view target(parser_->get().target().data(), parser_->get().target().size());
  return target.substr(0, target.find('?'));
}

std::size_t RequestReader::most_of_any_body() const {
  return options_.takes_uploads ? std::max(options_.most_body_bytes, options_.upload_bytes) : options_.most_body_bytes;
}

std::size_t RequestReader::most_of_body() const {
  return options_.takes_uploads && options_.takes_uploads(path()) ? most_of_any_body() : options_.most_body_bytes;
}

std::size_t RequestReader::size_to_expect() const {
  if (const auto length = parser_->content_length()) return static_cast<std::size_t>(*length);
  if (is_done()) return body_size();
  return parser_->chunked() ? most_of_body() : 0;  // a body in chunks may become as large as it may
}

HttpMessage RequestReader::so_far(std::size_t most) const {
  HttpMessage message(parser_->get().base());
  message.body() = parser_->get().body().substr(0, most);
  return message;
}

}  // namespace tril::serve
