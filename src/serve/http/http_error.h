// What a request is refused with.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>

namespace tril::serve {

/// The names of OpenAI's errors.
inline constexpr const char* invalid_request = "invalid_request_error";

class HttpError : public std::runtime_error {
 public:
  /// @param message  for whoever asked
  /// @param parameter  of the request, what is wrong; may be empty
  HttpError(int status, const std::string& message, std::string parameter = {}, std::string type = invalid_request)
      : std::runtime_error(message), status_(status), parameter_(std::move(parameter)), type_(std::move(type)) {}

  int status() const { return status_; }
  const std::string& parameter() const { return parameter_; }
  const std::string& type() const { return type_; }
  /// The same with a code, for what is thrown where it is made.
  HttpError with_code(std::string name) && {
    code = std::move(name);
    return std::move(*this);
  }

  /// OpenAI's name of what is wrong, such as "model_not_found"; empty: there is none.
  std::string code;
  /// Seconds after which to try again; nothing: it would not help.
  std::optional<int> retry_after;
  /// Methods that the address is for; empty: that is not what is wrong.
  std::string allow;
  /// Codings that a body may come in; empty: its coding is not what is wrong.
  std::string accept_encoding;

 private:
  int status_;
  std::string parameter_, type_;
};

}  // namespace tril::serve
