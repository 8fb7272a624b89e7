#include "serve/http/http.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace tril::serve {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::optional<std::string> HttpRequest::header(std::string_view name) const {
  for (const auto& [n, value] : headers)
    if (n == name) return value;
  return std::nullopt;
}

std::string_view reason_of(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 202:
      return "Accepted";
    case 204:
      return "No Content";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 413:
      return "Content Too Large";
    case 415:
      return "Unsupported Media Type";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 456:
      return "Quota Exceeded";
    case 499:
      return "Client Closed Request";
    case 501:
      return "Not Implemented";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    case 507:
      return "Insufficient Storage";
    default:
      return status < 400 ? "OK" : status < 500 ? "Bad Request" : "Internal Server Error";
  }
}

std::string lower(std::string_view text) {
  std::string s(text);
  std::transform(s.begin(), s.end(), s.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return s;
}

namespace {

// The byte of "%41" at i; nothing if no two hexadecimal digits follow.
std::optional<char> escaped_byte(std::string_view text, std::size_t i) {
  if (i + 2 >= text.size()) return std::nullopt;
  const int high = hex_digit(text[i + 1]), low = hex_digit(text[i + 2]);
  if (high < 0 || low < 0) return std::nullopt;
  return static_cast<char>(high * 16 + low);
}

// Decodes text of a form.
std::string form_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::optional<char> byte = text[i] == '%' ? escaped_byte(text, i) : std::nullopt;
    out += byte.value_or(text[i] == '+' ? ' ' : text[i]);
    if (byte) i += 2;
  }
  return out;
}

}  // namespace

std::optional<std::string> url_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    const std::optional<char> byte = escaped_byte(text, i);
    if (!byte) return std::nullopt;
    out += *byte;
    i += 2;
  }
  return out;
}

std::string url_encoded(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    const bool plain = static_cast<unsigned char>(c) < 0x80 && (std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                                                                std::string_view("-._~").find(c) != std::string::npos);
    encoded += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return encoded;
}

std::vector<std::pair<std::string, std::string>> url_encoded_fields(std::string_view text) {
  std::vector<std::pair<std::string, std::string>> fields;
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(text.size(), one.size() + 1));
    if (one.empty()) continue;
    const std::size_t equals = one.find('=');
    fields.emplace_back(form_decoded(one.substr(0, equals)),
                        form_decoded(equals == std::string_view::npos ? std::string_view() : one.substr(equals + 1)));
  }
  return fields;
}

std::map<std::string, std::string> parse_query(std::string_view text) {
  std::map<std::string, std::string> by_name;
  for (auto& [name, value] : url_encoded_fields(text)) by_name[std::move(name)] = std::move(value);
  return by_name;
}

}  // namespace tril::serve
