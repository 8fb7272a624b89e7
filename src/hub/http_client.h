// One GET after another over libcurl: HTTP and HTTPS alone, proxies by the environment (libcurl's variables),
// redirects followed here.
//
// The token goes to the endpoint's own scheme, host and port, and nowhere else: not after a redirect, and not to a
// URL of somebody else. From HTTPS no redirect leads to HTTP. Bodies arrive as they are stored: no compression is
// asked for. A client belongs to one thread.
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
  std::uint64_t first = 0;  ///< offset of the first byte that is wanted
  std::string if_range;     ///< the ETag of the bytes before it; empty: any
};

struct HttpAnswer {
  int status = 0;                              ///< 0: none came, or `problem` says what broke it off
  std::map<std::string, std::string> headers;  ///< of the last answer; names in lower case
  std::string linked_etag, linked_size;        ///< X-Linked-Etag and X-Linked-Size of any answer on the way
  std::string error_body;                      ///< the beginning of the body of an answer that is no success
  std::string problem;                         ///< of the connection, in libcurl's words; empty: none
  bool can_retry = false;                      ///< whether the problem may pass

  std::string header(const std::string& name) const;  ///< "" if there is none
};

/// Takes a part of a successful answer's body, whose head is known.
using TakeBytes = std::function<void(const HttpAnswer& head, std::string_view bytes)>;

class HttpClient {
 public:
  explicit HttpClient(const HubSettings& settings);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  /// @param stop  breaks the transfer off
  /// @throws Error for a redirect that must not be followed, and what `take` throws
  HttpAnswer get(const HttpRequest& request, const TakeBytes& take, const std::stop_token& stop = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Whether two URLs have the same scheme, host and port; false if one of them is no URL.
bool same_origin(const std::string& a, const std::string& b);

/// The host of a URL, with its port if one is written; "" if it is no URL.
std::string host_of(const std::string& url);

/// Text as a part of a URL's path, with everything but letters, digits and "-._~" escaped. @param kept  further
/// characters to keep: "/"
std::string url_escaped(std::string_view text, std::string_view kept = {});

}  // namespace tril::hub
