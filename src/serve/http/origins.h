// Cross-origin rules: which pages may send requests, and the names under which the server may be addressed.
#pragma once

#include <string>
#include <vector>

#include "serve/http/http.h"

namespace tril::serve {

struct OriginOptions {
  std::vector<std::string> allowed;  ///< origins of other allowed pages; "*": any
  bool own_names_only = false;       ///< refuse requests to a name that is not this machine's own
};

/// The headers that allow a page to read the response; none for other pages.
Headers cors_headers(const HttpRequest& request, const OriginOptions& options);

/// @throws HttpError (403) for a page that is not allowed, or a name that is not the server's
void check_origin(const HttpRequest& request, const OriginOptions& options);

}  // namespace tril::serve
