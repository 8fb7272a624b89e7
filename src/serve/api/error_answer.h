// The response to a failed request: its status and contents.
#pragma once

#include <exception>
#include <string>

#include "serve/api/warnings.h"
#include "serve/http/http.h"

namespace tril::serve {

struct ErrorAnswer {
  int status = 500;
  std::string message, type;    ///< the type is OpenAI's name for the kind of error
  std::string parameter, code;  ///< see HttpError; may be empty
  Headers headers;
};

/// Errors that are no fault of the request are logged. An Error (usage) of a library is about the field that its place
/// begins with: "prompt 2" is about "prompt".
/// @param path    of the request, for the log
/// @param fields  the properties of the route's schema
ErrorAnswer error_answer(const std::exception_ptr& error, const std::string& path, const Json& fields);

/// {"message": ..., "type": ..., "param": ..., "code": ...}, OpenAI's error format.
Json openai_error(const ErrorAnswer& answer);

}  // namespace tril::serve
