// Errors that a user can act on: where it happened, what was expected, what was found and what to try.
//
// Everything below cli/ throws Error and never exits; cli/ prints it and turns its kind into an exit code, a server
// into a status. A bug in tril is an assert, not an Error.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace tril {

enum class ErrorKind {
  usage,    ///< the request is wrong: a misspelt option, sizes that do not divide (exit code 2)
  failure,  ///< a file or the system is at fault: a truncated file, a full disk (exit code 1)
};

class Error : public std::runtime_error {
 public:
  /// @param where  the file, line, option, tensor or op that is wrong ("data/train.de: line 12", "--max-tokens",
  /// "linear")
  /// @param what   what was expected and what was found
  /// @param hint   what to try; may be empty
  Error(ErrorKind kind, std::string where, std::string what, std::string hint = {});

  ErrorKind kind() const { return kind_; }
  const std::string& where() const { return where_; }
  const std::string& message() const { return message_; }  ///< what() without place and hint
  const std::string& hint() const { return hint_; }

  /// The same error with `where` in front of its place: "model.safetensors: " + where.
  Error within(std::string_view outer) const;
  /// The same error with the kind `failure`.
  Error as_failure() const { return Error(ErrorKind::failure, where_, message_, hint_); }

 private:
  ErrorKind kind_;
  std::string where_, message_, hint_;
};

/// Throws an error of kind `usage`.
[[noreturn]] void fail_usage(std::string where, std::string what, std::string hint = {});
/// Throws an error of kind `failure`.
[[noreturn]] void fail(std::string where, std::string what, std::string hint = {});

/// Checks an argument: throws Error(usage, where, formatted text) if `ok` is false. The text is formatted only then.
template <class... Args>
void check(bool ok, std::string_view where, fmt::format_string<Args...> text, Args&&... args) {
  if (!ok) [[unlikely]]
    fail_usage(std::string(where), fmt::format(text, std::forward<Args>(args)...));
}

/// Returns the result of `read`, which reads files, and turns usage errors into failures: bad content of a file is
/// a failure, whichever function finds it.
template <class Read>
auto from_files(const Read& read) {
  try {
    return read();
  } catch (const Error& e) {
    throw e.as_failure();
  }
}

/// The candidate nearest to `word` by edit distance, or "" if none is near enough to be meant.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

/// "did you mean --max-tokens?", or "" if nothing is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace tril
