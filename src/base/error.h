// Errors that a user can act on: where it happened, what was expected, what was found and what to try.
//
// The class Error is public: include/tril/error.h. Everything below cli/ throws Error and never exits; cli/ prints it and turns its kind into an exit code, a server
// into a status. A bug in tril is an assert, not an Error.
#pragma once

#include <fmt/format.h>
#include <tril/error.h>

#include <string>
#include <string_view>
#include <vector>

namespace tril {

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
