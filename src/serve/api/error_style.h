// The APIs that the routes belong to: the format of their errors, and where their clients put the key.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "serve/api/warnings.h"

namespace tril::serve {

struct ErrorAnswer;

/// The API that a route belongs to, which determines the format of its errors.
enum class ErrorStyle : std::uint8_t { openai, libretranslate, deepl, google, microsoft };

/// The name of the API, as in the API's description.
std::string_view name_of(ErrorStyle style);

/// The field of a form, of a JSON body or of the address that may hold the key, besides `api_key`; "": there is none.
std::string_view key_field(ErrorStyle style);

/// Whether the routes take fields in a form, and in the address if the body is a form or empty.
bool takes_forms(ErrorStyle style);
/// Whether the routes themselves read the fields in the address, even beside a JSON body.
bool reads_address(ErrorStyle style);

/// The type of JSON responses. Old clients of Google, such as OmegaT 3, read Latin-1 if it does not name the encoding.
std::string json_type(ErrorStyle style);

/// The status of an error; DeepL's and LibreTranslate's APIs have 403 for an unknown key.
int error_status(const ErrorAnswer& answer, ErrorStyle style);
/// The body of a response with an error.
Json error_body(const ErrorAnswer& answer, ErrorStyle style);
/// Its schema.
Json error_schema(ErrorStyle style);

}  // namespace tril::serve
