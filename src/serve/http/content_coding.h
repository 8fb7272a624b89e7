// Compressed request bodies (RFC 9110, 8.4): gzip and deflate are unpacked, other codings refused.
#pragma once

#include <cstddef>

#include "serve/http/http.h"

namespace tril::serve {

/// The supported codings, as listed in a header.
inline constexpr const char* accepted_codings = "gzip, deflate";

/// Unpacks the body if its header says that it is packed, and removes that header.
/// @param most  limit of the unpacked size in bytes, also of the memory used
/// @throws HttpError 415 for another coding, or several; 413 for a larger body; 400 for a broken one
void unpack_body(HttpRequest& request, std::size_t most);

/// Likewise, but a body that would exceed the limit is unchanged. @return whether it was within it
/// @throws HttpError 415 and 400, as above
bool unpack_body_within(HttpRequest& request, std::size_t most);

}  // namespace tril::serve
