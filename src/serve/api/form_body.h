// Reads form bodies: application/x-www-form-urlencoded, and multipart/form-data [RFC 7578] with fields as its parts, as
// sent by `curl -F` and browsers. Files are refused.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "serve/api/request_fields.h"

namespace tril::serve {

/// Names and values in order; names may repeat.
using FormFields = std::vector<std::pair<std::string, std::string>>;

/// Whether this content type is a form.
bool is_form(std::string_view content_type);

/// "a=1&b=x%20y". @throws HttpError (400) if malformed
FormFields read_url_encoded(std::string_view text);

/// @param content_type  contains the boundary between parts
/// @throws HttpError: 400 if malformed, 415 for a file, or for a part that is not plain UTF-8 text
FormFields read_multipart(std::string_view content_type, std::string_view body);

/// All fields of a request's form: those after the ? of its address, which some clients use, then those of its body.
FormFields read_form(const HttpRequest& request);

/// The form as JSON. All values of a form are texts: those of fields that `properties` (of schema_of()) declares as
/// numbers, booleans or objects are converted if possible. A repeated name becomes a list.
/// @throws HttpError (400) for a repeated name whose field is no list
Json json_of_form(const FormFields& fields, const Json& properties);

}  // namespace tril::serve
