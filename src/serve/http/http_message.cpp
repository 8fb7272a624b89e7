#include "serve/http/http_message.h"

#include <fmt/format.h>

#include <algorithm>

namespace tril::serve {

namespace http = boost::beast::http;

std::optional<HttpRequest> request_of(HttpMessage message) {
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

const char* unclear_body(const HttpMessage& message) {
  const auto codings = message.count(http::field::transfer_encoding);
  if (codings > 0 && (codings > 1 || !boost::beast::iequals(message[http::field::transfer_encoding], "chunked")))
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

std::string quotable(std::string text) {
  std::erase_if(text, [](unsigned char c) { return c < 0x20 || c == '"' || c == '\\' || c > 0x7e; });
  return text;
}

}  // namespace tril::serve
