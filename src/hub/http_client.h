// One GET after another over libcurl: only HTTP and HTTPS, with the proxies of libcurl's environment variables. Redirects
// are followed here, not by libcurl.
//
// The token is sent only to the scheme, host and port of the endpoint, not to other URLs or redirect targets. A redirect from
// HTTPS to HTTP is an error. No compression is requested. A client belongs to one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "hub/settings.h"

namespace tril::hub {

struct HttpRequest {
  std::string url;
  std::uint64_t first = 0;  ///< offset of the first byte to get
  std::string if_range;     ///< the ETag of the bytes before it; empty: any
};

struct HttpAnswer {
  int status = 0;                              ///< 0: no response
  std::map<std::string, std::string> headers;  ///< of the last response; names in lower case
  std::string linked_etag, linked_size;        ///< X-Linked-Etag and X-Linked-Size of any response on the way
  std::string error_body;                      ///< the beginning of the body of an error
  std::string problem;                         ///< libcurl's message about the connection; empty: none
  bool can_retry = false;                      ///< true if another try may succeed

  std::string header(const std::string& name) const;  ///< "" if there is none
  /// True for a status of success. The body may still be incomplete (`problem`).
  bool is_success() const { return status >= 200 && status < 300; }
};

/// Receives a part of the body of a successful response, with the response's head.
using TakeBytes = std::function<void(const HttpAnswer& head, std::string_view bytes)>;

class HttpClient {
 public:
  explicit HttpClient(const HubSettings& settings);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  /// @param stop  ends the transfer
  /// @throws Error for a forbidden redirect; whatever `take` throws
  HttpAnswer get(const HttpRequest& request, const TakeBytes& take, const std::stop_token& stop = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// True if two URLs have the same scheme, host and port; false if one of them is not a URL.
bool same_origin(const std::string& a, const std::string& b);

/// The host of a URL, with its port if it has one; "" if the text is not a URL.
std::string host_of(const std::string& url);

/// Text as a part of a URL's path, with everything but letters, digits and "-._~" escaped. @param kept  further
/// characters to keep: "/"
std::string url_escaped(std::string_view text, std::string_view kept = {});

}  // namespace tril::hub
