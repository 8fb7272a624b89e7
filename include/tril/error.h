// The one exception of tril: errors that a user can act on.
#pragma once

#include <tril/export.h>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

namespace tril {

enum class ErrorKind : std::uint8_t {
  usage,    ///< the request is wrong: a misspelt option, sizes that do not divide
  failure,  ///< a file or the system is at fault: a truncated file, a full disk
};

/// Says where it happened, what was expected and found, and what to try. what() is all of it in one line. Copies share the
/// texts and do not throw.
class TRIL_API Error : public std::runtime_error {
 public:
  /// `where` is the file, line, option, tensor or op that is wrong ("data/train.de: line 12", "beam_size", "linear"),
  /// `what` says what was expected and what was found,
  /// `hint` says what to try; it may be empty.
  Error(ErrorKind kind, std::string where, std::string what, std::string hint = {});
  Error(const Error&) noexcept;             ///< shares the texts
  Error& operator=(const Error&) noexcept;  ///< shares the texts
  ~Error() override;

  ErrorKind kind() const noexcept;              ///< usage or failure
  const std::string& where() const noexcept;    ///< the place; may be empty
  const std::string& message() const noexcept;  ///< what() without place and hint
  const std::string& hint() const noexcept;     ///< what to try; may be empty

  /// The same error with `outer` in front of its place: "model.safetensors: " + where.
  Error within(std::string_view outer) const;
  /// The same error with the kind `failure`.
  Error as_failure() const;

 private:
  struct Parts;
  std::shared_ptr<const Parts> parts_;
};

}  // namespace tril
