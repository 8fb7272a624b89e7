// HTTP requests and responses. Handlers know no sockets, and the server (http_server.h) knows no models.
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
  std::map<std::string, std::string> query;  ///< decoded; the last value of a repeated name
  std::string query_text;                    ///< raw, without its ?
  Headers headers;                           ///< names in lower case
  std::string body;
  std::string address;  ///< of the client, without its port; behind a trusted proxy, as that names it
  bool secure = false;  ///< whether it came over TLS
  /// False for an upload that HttpServerOptions::judge_upload refused: only the beginning of its body has arrived.
  bool is_whole = true;

  /// The first header of this name (in lower case), or nothing.
  std::optional<std::string> header(std::string_view name) const;
};

struct HttpResponse {
  int status = 200;
  std::string content_type = "application/json";
  std::string body = {};
  Headers headers = {};
};

/// Answers one request, from any thread: send(), or begin(), any number of write() and finish(). Later calls have no
/// effect. If it is destroyed without a response, it answers 500.
class Responder {
 public:
  virtual ~Responder() = default;
  virtual void send(HttpResponse response) = 0;
  /// Begins a stream, whose body is sent as it is written; `response.body` is its beginning.
  virtual void begin(HttpResponse response) = 0;
  virtual void write(std::string_view more) = 0;
  virtual void finish() = 0;
  /// Calls `f` once if the client goes away before the response is complete, or has gone already. Only the last `f` is kept.
  virtual void on_gone(std::function<void()> f) = 0;
};

using Handler = std::function<void(HttpRequest request, std::shared_ptr<Responder> responder)>;

/// "Not Found"
std::string_view reason_of(int status);
/// Converts ASCII letters to lower case.
std::string lower(std::string_view text);
/// Decodes a path: "%41" -> "A"; nothing if it is malformed.
std::optional<std::string> url_decoded(std::string_view text);
/// Encodes a part of a path, or a value: all but RFC 3986's unreserved characters are written as %41.
std::string url_encoded(std::string_view text);
/// "a=1&b=x%20y": names and values, decoded, in order. As in browsers (WHATWG URL, 5.1), a % without two hexadecimal
/// digits is literal.
std::vector<std::pair<std::string, std::string>> url_encoded_fields(std::string_view text);
/// Likewise by name, with the last value of a repeated name.
std::map<std::string, std::string> parse_query(std::string_view text);

}  // namespace tril::serve
