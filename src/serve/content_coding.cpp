#include "serve/content_coding.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "base/printable.h"
#include "serve/http_error.h"
#include "text/utf8.h"

namespace tril::serve {
namespace {

constexpr std::size_t step_bytes = 64 * 1024;

// "deflate" is zlib's form, but some send the bare one (RFC 9110, 8.4.1.2). Two bytes tell: zlib's begin with a method of
// 8 and are a multiple of 31.
bool is_zlib(std::string_view body) {
  if (body.size() < 2) return false;
  const unsigned first = static_cast<unsigned char>(body[0]), second = static_cast<unsigned char>(body[1]);
  return (first & 0xf) == 8 && (first * 256 + second) % 31 == 0;
}

class Inflater {
 public:
  explicit Inflater(int window_bits) {
    if (inflateInit2(&stream_, window_bits) != Z_OK) throw std::bad_alloc();
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  // One stream behind the other, as gzip has them; nothing where they come to more.
  std::optional<std::string> unpack(std::string_view packed, std::size_t most) {
    std::string out;
    std::array<char, step_bytes> step;
    // zlib reads there alone, but its type says so only where ZLIB_CONST is defined.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
    stream_.avail_in = static_cast<uInt>(packed.size());  // bodies have 64 MiB at most
    for (;;) {
      stream_.next_out = reinterpret_cast<Bytef*>(step.data());
      stream_.avail_out = static_cast<uInt>(step.size());
      const int code = inflate(&stream_, Z_NO_FLUSH);
      const std::size_t n = step.size() - stream_.avail_out;
      if (out.size() + n > most) return std::nullopt;
      out.append(step.data(), n);
      if (code == Z_STREAM_END) {
        if (stream_.avail_in == 0) return out;
        inflateReset(&stream_);
      } else if (code != Z_OK || (stream_.avail_in == 0 && n == 0)) {
        throw HttpError(400, stream_.avail_in == 0 ? "the request's packed body is cut off"
                                                   : "the request's packed body is broken");
      }
    }
  }

 private:
  z_stream stream_{};
};

}  // namespace

bool unpack_body_within(HttpRequest& request, std::size_t most) {
  std::string coding;
  for (const auto& [name, value] : request.headers)
    if (name == "content-encoding") coding += (coding.empty() ? "" : ", ") + lower(trim(value));
  if (request.body.empty() || coding.empty() || coding == "identity") return request.body.size() <= most;
  if (coding != "gzip" && coding != "x-gzip" && coding != "deflate") {
    HttpError error(
        415, fmt::format("Content-Encoding: {} is not understood, {} are", printable(coding, 40), accepted_codings));
    error.accept_encoding = accepted_codings;
    throw error;
  }
  constexpr int gzip = 15 + 16, zlib = 15, bare = -15;
  Inflater inflater(coding != "deflate" ? gzip : is_zlib(request.body) ? zlib : bare);
  std::optional<std::string> unpacked = inflater.unpack(request.body, most);
  if (!unpacked) return false;
  request.body = std::move(*unpacked);
  std::erase_if(request.headers, [](const auto& header) { return header.first == "content-encoding"; });
  return true;
}

void unpack_body(HttpRequest& request, std::size_t most) {
  if (!unpack_body_within(request, most))
    throw HttpError(413, fmt::format("the request's body is larger than {} bytes once it is unpacked", most));
}

}  // namespace tril::serve
