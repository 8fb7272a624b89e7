// What an HTTP request says, and how it is answered. Handlers know no sockets, and the server (http_server.h) no models.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tril::serve {

using Headers = std::vector<std::pair<std::string, std::string>>;

struct HttpRequest {
  std::string method;                        ///< "GET"
  std::string path;                          ///< "/v1/models", decoded, without the query
  std::map<std::string, std::string> query;  ///< decoded; of a name that comes twice, the last
  std::string query_text;                    ///< as it came, without its ?
  Headers headers;                           ///< names in lower case
  std::string body;
  std::string address;  ///< of the other end, without its port
  bool secure = false;  ///< whether it came by TLS

  /// The first header of this name (in lower case), or nothing.
  std::optional<std::string> header(std::string_view name) const;
};

struct HttpResponse {
  int status = 200;
  std::string content_type = "application/json";
  std::string body = {};
  Headers headers = {};
};

/// Answers one request, from whatever thread: send(), or begin(), any number of write() and finish(). What comes after that
/// is nothing. One that goes without an answer answers 500.
class Responder {
 public:
  virtual ~Responder() = default;
  virtual void send(HttpResponse response) = 0;
  /// A stream, whose body is written as it comes; `response.body` is its beginning.
  virtual void begin(HttpResponse response) = 0;
  virtual void write(std::string_view more) = 0;
  virtual void finish() = 0;
  /// Calls `f` once if the other end goes away before the answer is complete, or has gone already; one at a time, the last
  /// one given.
  virtual void on_gone(std::function<void()> f) = 0;
};

using Handler = std::function<void(HttpRequest request, std::shared_ptr<Responder> responder)>;

/// "Not Found"
std::string_view reason_of(int status);
/// ASCII letters in small ones.
std::string lower(std::string_view text);
/// A path: "%41" -> "A"; nothing where it is not well formed.
std::optional<std::string> url_decoded(std::string_view text);
/// "a=1&b=x%20y": names and values, decoded, in their order. As in browsers (WHATWG URL, 5.1) a % that no two hexadecimal
/// digits follow is itself.
std::vector<std::pair<std::string, std::string>> url_encoded_fields(std::string_view text);
/// The same by name; of a name that occurs twice, the last value.
std::map<std::string, std::string> parse_query(std::string_view text);

}  // namespace tril::serve
