#include "serve/http/content_coding.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/printable.h"
#include "format/inflater.h"
#include "serve/http/http_error.h"
#include "unicode/trim.h"

namespace tril::serve {
namespace {

constexpr std::size_t step_bytes = std::size_t{64} << 10;
constexpr char gzip_begins = '\x1f';

// "deflate" means the zlib format, but some clients send raw deflate (RFC 9110, 8.4.1.2). The first two bytes
// distinguish them: zlib's begin with method 8 and are a multiple of 31.
bool is_zlib(std::string_view body) {
  if (body.size() < 2) return false;
  const unsigned first = static_cast<unsigned char>(body[0]), second = static_cast<unsigned char>(body[1]);
  return (first & 0xf) == 8 && (first * 256 + second) % 31 == 0;
}

// Unpacks a body, for gzip also concatenated streams; nothing if the result exceeds `most`.
std::optional<std::string> unpacked_within(std::string_view body, DeflateForm form, std::size_t most) {
  Inflater inflater(form);
  std::string out;
  std::array<char, step_bytes> buffer;
  for (;;) {
    const auto [state, read, written] =
        inflater.step(std::as_bytes(std::span(body)), std::as_writable_bytes(std::span(buffer)));
    if (out.size() + written > most) return std::nullopt;
    out.append(buffer.data(), written);
    body.remove_prefix(read);
    if (state == Inflater::Step::damaged) throw HttpError(400, "the compressed request body is damaged");
    if (state == Inflater::Step::more) {
      if (body.empty() && written == 0) throw HttpError(400, "the compressed request body is truncated");
      continue;
    }
    if (body.empty()) return out;
    if (form != DeflateForm::gzip || body.front() != gzip_begins)
      throw HttpError(400, "the compressed request body is damaged: bytes follow its end");
    inflater.restart();
  }
}

// The codings of a body, in lower case and in order, without identity. List elements may be empty (RFC 9110, 5.6.1).
std::vector<std::string> codings_of(const HttpRequest& request) {
  std::vector<std::string> codings;
  for (const auto& [name, value] : request.headers) {
    if (name != "content-encoding") continue;
    for (std::string_view rest = value; !rest.empty();) {
      const std::string_view element = rest.substr(0, rest.find(','));
      rest.remove_prefix(std::min(rest.size(), element.size() + 1));
      std::string coding = lower(trim(element));
      if (!coding.empty() && coding != "identity") codings.push_back(std::move(coding));
    }
  }
  return codings;
}

[[noreturn]] void refuse_coding(const std::string& message) {
  HttpError error(415, "Content-Encoding: " + message);
  error.accept_encoding = accepted_codings;
  throw error;
}

}  // namespace

bool unpack_body_within(HttpRequest& request, std::size_t most) {
  const std::vector<std::string> codings = codings_of(request);
  if (request.body.empty() || codings.empty()) return request.body.size() <= most;
  if (codings.size() > 1)
    refuse_coding(fmt::format("{} codings ({}) are too many, expected one of: {}", codings.size(),
                              printable(fmt::format("{}", fmt::join(codings, ", ")), 40), accepted_codings));
  const std::string& coding = codings[0];
  if (coding != "gzip" && coding != "x-gzip" && coding != "deflate")
    refuse_coding(
        fmt::format("the coding {} is not supported; supported: {}", printable(coding, 40), accepted_codings));
  const DeflateForm form = coding != "deflate"     ? DeflateForm::gzip
                           : is_zlib(request.body) ? DeflateForm::zlib
                                                   : DeflateForm::raw;
  std::optional<std::string> unpacked = unpacked_within(request.body, form, most);
  if (!unpacked) return false;
  request.body = std::move(*unpacked);
  std::erase_if(request.headers, [](const auto& header) { return header.first == "content-encoding"; });
  return true;
}

void unpack_body(HttpRequest& request, std::size_t most) {
  if (!unpack_body_within(request, most))
    throw HttpError(413, fmt::format("the request body is larger than {} bytes after decompression", most));
}

}  // namespace tril::serve
