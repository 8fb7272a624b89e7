// Errors that a person can act on: where it happened, what was expected and what came, and what to try.
//
// Everything below cli/ throws Error and never exits; cli/ prints it and turns its kind into an exit code, a server
// into a status. A bug of our own is an assert, not an Error.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace tril {

enum class ErrorKind {
  usage,  ///< the caller asked for something that cannot be: a misspelt option, sizes that do not divide (exit code 2)
  failure,  ///< the request was sound and the world was not: a truncated file, a full disk (exit code 1)
};

class Error : public std::runtime_error {
 public:
  /// @param where  the file, line, option, tensor or op that is wrong ("data/train.de: line 12", "--max-tokens",
  /// "linear")
  /// @param what   what was expected and what came
  /// @param hint   what to try; may be empty
  Error(ErrorKind kind, std::string where, std::string what, std::string hint = {});

  ErrorKind kind() const { return kind_; }
  const std::string& where() const { return where_; }
  const std::string& message() const { return message_; }  ///< what() without place and hint
  const std::string& hint() const { return hint_; }

  /// The same error seen from one level further out: "model.safetensors: " + where.
  Error within(std::string_view outer) const;
  /// The same as the world's fault.
  Error as_failure() const { return Error(ErrorKind::failure, where_, message_, hint_); }

 private:
  ErrorKind kind_;
  std::string where_, message_, hint_;
};

/// The request was wrong.
[[noreturn]] void fail_usage(std::string where, std::string what, std::string hint = {});
/// The world was wrong.
[[noreturn]] void fail(std::string where, std::string what, std::string hint = {});

/// Checks an argument: throws Error(usage, where, formatted text) where `ok` is false. The text is formatted only then.
template <class... Args>
void check(bool ok, std::string_view where, fmt::format_string<Args...> text, Args&&... args) {
  if (!ok) [[unlikely]]
    fail_usage(std::string(where), fmt::format(text, std::forward<Args>(args)...));
}

/// What `read` gives, which reads files: whatever they hold that cannot be is the world's fault, whoever finds it.
template <class Read>
auto from_files(const Read& read) {
  try {
    return read();
  } catch (const Error& e) {
    throw e.as_failure();
  }
}

/// The candidate nearest to `word` by edit distance, or "" where none is near enough to be what was meant.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

/// "did you mean --max-tokens?", or "" where nothing is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace tril
