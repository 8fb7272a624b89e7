// The error with which a request is refused.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>

namespace tril::serve {

/// The names of OpenAI's errors.
inline constexpr const char* invalid_request = "invalid_request_error";

class HttpError : public std::runtime_error {
 public:
  /// @param message  for the client
  explicit HttpError(int status, const std::string& message, std::string type = invalid_request)
      : std::runtime_error(message), status_(status), type_(std::move(type)) {}

  int status() const { return status_; }
  /// The field of the request that is wrong, OpenAI's "param"; empty: none.
  const std::string& parameter() const { return parameter_; }
  const std::string& type() const { return type_; }
  /// The same error of a field, for use in a throw expression.
  HttpError of_field(std::string name) && {
    parameter_ = std::move(name);
    return std::move(*this);
  }
  /// The same error with a code, for use in a throw expression.
  HttpError with_code(std::string name) && {
    code = std::move(name);
    return std::move(*this);
  }

  /// OpenAI's code, such as "model_not_found"; empty: none.
  std::string code;
  /// Seconds after which to try again; nothing: a retry would not help.
  std::optional<int> retry_after;
  /// Methods that the address accepts; empty: the method is not the problem.
  std::string allow;
  /// Codings that are accepted for a body; empty: the coding is not the problem.
  std::string accept_encoding;

 private:
  int status_;
  std::string parameter_, type_;
};

/// A field of the request is wrong: 400, "FIELD: PROBLEM".
inline HttpError field_error(const std::string& field, const std::string& problem) {
  return HttpError(400, field + ": " + problem).of_field(field);
}

/// There is no room for the request now: 429. @param seconds  after which to try again
inline HttpError no_room(const std::string& message, int seconds) {
  HttpError error(429, message, "rate_limit_error");
  error.code = "rate_limit_exceeded";
  error.retry_after = seconds;
  return error;
}
/// The server stops, and another one may take its place: 503.
inline HttpError shutting_down() {
  HttpError error(503, "the server is shutting down", "server_error");
  error.retry_after = 5;
  return error;
}

}  // namespace tril::serve
