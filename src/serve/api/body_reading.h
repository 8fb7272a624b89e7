// What is read of a request's body before a route looks into it: what it is packed from, a key that it may bring, and what of
// it the log may have. A body that is small takes a moment; a large one takes so long that it is read beside the server's
// threads, whatever of it is to be read (Service::handle).
#pragma once

#include <cstddef>
#include <string>

#include "serve/api/warnings.h"
#include "serve/http/http.h"

namespace tril::serve {

/// Unpacks the body (content_coding.h) where it is small, packed and unpacked: cutting a text of that size into tokens takes a
/// millisecond or two. @return whether it is; a large one stays as it came
/// @param most  bytes that it may come to
/// @throws HttpError as unpack_body()
bool unpack_if_small(HttpRequest& request, std::size_t most);

/// Tells of fields where the route does not look: those in the address of a request whose body is JSON.
/// @param takes_forms  whether the route does: those of a form, and in the address beside one or alone
/// @throws HttpError: 415 for a form where it does not, 400 as Warnings::pass_over()
void check_where_fields_are(const HttpRequest& request, bool takes_forms, Warnings& warnings);

/// The key in the head or in the address of a request; empty: there is none.
std::string key_of_head(const HttpRequest& request);
/// The key in a body that is not packed, as LibreTranslate has it (`api_key`); empty: there is none, or the body is none that can
/// be read.
std::string key_of_body(const HttpRequest& request);

/// The body, which is not packed, as the log may have it: without a key. Empty where it may have one that cannot be told.
std::string body_without_key(const HttpRequest& request);

}  // namespace tril::serve
