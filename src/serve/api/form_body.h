// Bodies of requests that are forms: application/x-www-form-urlencoded, and multipart/form-data [RFC 7578] whose parts are
// fields, as `curl -F` and browsers send them. Files are not taken.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "serve/api/request_fields.h"

namespace tril::serve {

/// Names and values in their order; a name may come several times.
using FormFields = std::vector<std::pair<std::string, std::string>>;

/// Whether a body of this type is a form.
bool is_form(std::string_view content_type);

/// "a=1&b=x%20y". @throws HttpError (400) where it is not well formed
FormFields read_url_encoded(std::string_view text);

/// @param content_type  whose boundary parts the body
/// @throws HttpError: 400 where it is not well formed, 415 for a file, or for a part that is no plain text in UTF-8
FormFields read_multipart(std::string_view content_type, std::string_view body);

/// The fields of a request's form: those behind the ? of its address, where some clients put them, then those of its body.
FormFields read_form(const HttpRequest& request);

/// The same as JSON would say it. All that a form has are texts: those of fields that are numbers, true or false, or objects
/// by `properties` (of schema_of()) become such where they can be read as such. A name that comes several times is a list.
/// @throws HttpError (400) where it is that of a field which is none
Json json_of_form(const FormFields& fields, const Json& properties);

}  // namespace tril::serve
