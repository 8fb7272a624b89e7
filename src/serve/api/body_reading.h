// Reads a request's body before its route does: its compression, an API key in it, and the part that may be logged. A
// small body is read at once. A large one takes long, so it is read outside of the server's threads (Service::handle).
#pragma once

#include <cstddef>
#include <string>

#include "serve/api/error_style.h"
#include "serve/api/warnings.h"
#include "serve/http/http.h"

namespace tril::serve {

/// Unpacks the body (content_coding.h) if it is small both packed and unpacked, since tokenising a text of that size
/// takes a millisecond or two. @return whether it is small; a large body is unchanged
/// @param most  limit of the unpacked size in bytes
/// @throws HttpError like unpack_body()
bool unpack_if_small(HttpRequest& request, std::size_t most);

/// Warns of fields where the route does not look: those in the address of a request with a JSON body.
/// @throws HttpError: 415 for a form that is not accepted, 400 like Warnings::pass_over()
void check_where_fields_are(const HttpRequest& request, ErrorStyle style, Warnings& warnings);

/// The key in a request's headers or address; empty if none.
std::string key_of_head(const HttpRequest& request, ErrorStyle style);
/// The key in an unpacked body: `api_key`, as in LibreTranslate, or the name that the API has for it (key_field()). Empty if there
/// is none. Empty too if the body is malformed, except for a key in front of a malformed part of a form.
std::string key_of_body(const HttpRequest& request, ErrorStyle style);
/// The key in the beginning of a form.
struct KeySoFar {
  std::string key;
  bool is_final =
      false;  ///< there is no reason to look again when more has arrived: the key comes after a file, if at all
};
/// @param request  whose body may be incomplete
KeySoFar key_so_far(const HttpRequest& request, ErrorStyle style);

/// The fields of an unpacked request as JSON, without the key: those of its body (body_of()) and, for a route that reads its address,
/// those of the address, which count less. Such a request may have no fields at all.
/// @param properties  of schema_of(): the types of a form's fields
/// @throws HttpError like body_of()
Json fields_of_request(const HttpRequest& request, ErrorStyle style, const Json& properties, bool reads_address);

/// An unpacked body for the log, without a key. Empty if it might contain a key that cannot be found.
std::string body_without_key(const HttpRequest& request, ErrorStyle style);

}  // namespace tril::serve
