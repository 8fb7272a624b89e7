// Which pages a browser may ask from, and by which names the server may be asked.
#pragma once

#include <string>
#include <vector>

#include "serve/http/http.h"

namespace tril::serve {

struct OriginOptions {
  std::vector<std::string> allowed;  ///< pages from there may ask too; "*": from anywhere
  bool own_names_only = false;       ///< whoever asks by a name that is not this machine's own is refused
};

/// What an answer tells the browser of a page that may ask; nothing for others.
Headers cors_headers(const HttpRequest& request, const OriginOptions& options);

/// @throws HttpError (403) for a page that may not ask, or a name that the server does not go by
void check_origin(const HttpRequest& request, const OriginOptions& options);

}  // namespace tril::serve
