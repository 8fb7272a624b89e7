// What an error comes to for whoever asked: the status of the answer and what it tells.
#pragma once

#include <exception>
#include <string>

#include "serve/api/warnings.h"
#include "serve/http/http.h"

namespace tril::serve {

struct ErrorAnswer {
  int status = 500;
  std::string message, type;    ///< the latter is OpenAI's name of its kind
  std::string parameter, code;  ///< see HttpError; may be empty
  Headers headers;
};

/// What is no fault of the request is noted in the program's log.
/// @param path  of the request, for the log
ErrorAnswer error_answer(const std::exception_ptr& error, const std::string& path);

/// {"message": ..., "type": ..., "param": ..., "code": ...}, as OpenAI's clients read it.
Json openai_error(const ErrorAnswer& answer);

}  // namespace tril::serve
