#include "serve/http/content_coding.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "base/printable.h"
#include "serve/http/http_error.h"
#include "unicode/trim.h"

namespace tril::serve {
namespace {

constexpr std::size_t step_bytes = 64 * 1024;
constexpr int gzip_bits = 15 + 16, zlib_bits = 15, bare_bits = -15;  // for inflateInit2()
constexpr char gzip_begins = '\x1f';

// "deflate" means the zlib format, but some clients send raw deflate (RFC 9110, 8.4.1.2). The first two bytes tell:
// zlib's begin with method 8 and are a multiple of 31.
bool is_zlib(std::string_view body) {
  if (body.size() < 2) return false;
  const unsigned first = static_cast<unsigned char>(body[0]), second = static_cast<unsigned char>(body[1]);
  return (first & 0xf) == 8 && (first * 256 + second) % 31 == 0;
}

class Inflater {
 public:
  explicit Inflater(int window_bits) : is_gzip_(window_bits == gzip_bits) {
    if (inflateInit2(&stream_, window_bits) != Z_OK) throw std::bad_alloc();
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  // Unpacks concatenated streams, as gzip allows; nothing if the result exceeds `most`.
  std::optional<std::string> unpack(std::string_view packed, std::size_t most) {
    std::string out;
    std::array<char, step_bytes> step;
    // zlib only reads there, but its type says so only if ZLIB_CONST is defined.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
    stream_.avail_in = static_cast<uInt>(packed.size());  // bodies have at most 64 MiB
    for (;;) {
      stream_.next_out = reinterpret_cast<Bytef*>(step.data());
      stream_.avail_out = static_cast<uInt>(step.size());
      const int code = inflate(&stream_, Z_NO_FLUSH);
      const std::size_t n = step.size() - stream_.avail_out;
      if (out.size() + n > most) return std::nullopt;
      out.append(step.data(), n);
      if (code == Z_STREAM_END) {
        if (stream_.avail_in == 0) return out;
        if (!is_gzip_ || packed[packed.size() - stream_.avail_in] != gzip_begins)
          throw HttpError(400, "the compressed request body is damaged: bytes follow its end");
        inflateReset(&stream_);
      } else if (code == Z_MEM_ERROR) {
        throw std::bad_alloc();
      } else if (code != Z_OK && code != Z_BUF_ERROR) {
        throw HttpError(400, "the compressed request body is damaged");
      } else if (stream_.avail_in == 0 && n == 0) {
        throw HttpError(400, "the compressed request body is truncated");
      }
    }
  }

 private:
  bool is_gzip_;
  z_stream stream_{};
};

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
  Inflater inflater(coding != "deflate" ? gzip_bits : is_zlib(request.body) ? zlib_bits : bare_bits);
  std::optional<std::string> unpacked = inflater.unpack(request.body, most);
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
