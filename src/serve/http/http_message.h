// Requests and responses in the form in which they are sent (RFC 9112).
#pragma once

#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>
#include <optional>
#include <string>

#include "serve/http/http.h"

namespace tril::serve {

using HttpMessage = boost::beast::http::request<boost::beast::http::string_body>;

/// Converts a message to a request; nothing if its address is malformed.
std::optional<HttpRequest> request_of(HttpMessage message);

/// The fault in how a message marks the end of its body, null if none: another reader, such as a proxy, must not see another end
/// (RFC 9112, 6.1 and 6.3).
const char* unclear_body(const HttpMessage& message);

/// The head of a response. @param length  of the body; nothing: it is not sent
std::string head_of(const HttpResponse& r, bool keep_alive, std::optional<std::size_t> length, bool chunked);

/// A text without the characters that cannot be in quotes.
std::string quotable(std::string text);

}  // namespace tril::serve
