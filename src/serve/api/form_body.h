// Reads form bodies: application/x-www-form-urlencoded, and multipart/form-data [RFC 7578] with fields and files as its parts,
// as sent by `curl -F` and browsers.
#pragma once

#include <optional>
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

/// A part of a multipart form: a field, or a file.
struct FormPart {
  std::string name;
  std::string_view value;                ///< within the body
  std::optional<std::string> file_name;  ///< of a file, as the client sends it; nothing for a field
};

/// The parts in order.
/// @param content_type  contains the boundary between parts
/// @throws HttpError: 400 if malformed, 415 for a field that is not plain UTF-8 text
std::vector<FormPart> read_parts(std::string_view content_type, std::string_view body);

/// The beginning of a multipart form.
struct PartsSoFar {
  std::vector<FormPart> complete;  ///< in order, up to the first that is incomplete or malformed
  bool reach_file = false;         ///< there is a file, or the beginning of one
};
PartsSoFar parts_so_far(std::string_view content_type, std::string_view body);

/// Likewise for a form without files. @throws HttpError (415) for a file
FormFields read_multipart(std::string_view content_type, std::string_view body);

/// All fields of a request's form: those after the ? of its address, which some clients use, then those of its body.
/// @throws HttpError likewise
FormFields read_form(const HttpRequest& request);

/// The only file of a request's form, and its fields likewise.
struct FileForm {
  FormFields fields;
  std::string name;             ///< without directories; "": the client gives none
  std::string_view bytes;       ///< within the request's body
  std::size_t field_bytes = 0;  ///< of the names and values of the fields
};
inline constexpr std::size_t most_field_bytes = std::size_t{64} << 10;  ///< FileForm::field_bytes
inline constexpr const char* file_field = "file";                       ///< the file's name in the form
/// @throws HttpError: 415 if the body is not a multipart form, 400 if it is malformed or does not have this file, and no other, 413 if
///         the fields have more than most_field_bytes
FileForm read_file_form(const HttpRequest& request);

/// Whether the content type is that of a form that may have files.
bool is_multipart(std::string_view content_type);
/// @throws HttpError (415) for any other body
void check_is_multipart(const HttpRequest& request);

/// The form as JSON. All values of a form are texts: those of fields that `properties` (of schema_of()) declares as
/// numbers, booleans or objects are converted if possible. A repeated name becomes a list.
/// @throws HttpError (400) for a repeated name whose field is no list
Json json_of_form(const FormFields& fields, const Json& properties);

}  // namespace tril::serve
