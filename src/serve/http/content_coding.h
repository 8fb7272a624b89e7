// Bodies of requests that come packed (RFC 9110, 8.4): gzip and deflate are unpacked, what else there is, is refused.
#pragma once

#include <cstddef>

#include "serve/http/http.h"

namespace tril::serve {

/// The codings that are understood, as a head lists them.
inline constexpr const char* accepted_codings = "gzip, deflate";

/// Unpacks the body where the request says that it is packed, and takes the head's line for it away.
/// @param most  bytes that it may come to, whatever it is packed into; no more memory than that is taken
/// @throws HttpError 415 for another coding, or several; 413 for a larger body; 400 for one that is broken
void unpack_body(HttpRequest& request, std::size_t most);

/// The same, but a body that comes to more stays as it is. @return whether it does not
/// @throws HttpError 415 and 400, as the above
bool unpack_body_within(HttpRequest& request, std::size_t most);

}  // namespace tril::serve
