// Writes results to standard output, and nothing else there; a failed write is an error with its reason.
//
// SIGPIPE is ignored (main.cpp), so that a closed pipe (`tril translate | head`) is an ordinary error, which ends
// threads and removes partial files. App::run recognises it by its type and ends the program like the signal would; a
// server's log, which is not essential, catches it. Messages to a closed standard error are lost.
#pragma once

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace tril::cli {

constexpr int exit_reader_gone = 141;  ///< a shell's exit code for SIGPIPE: nobody reads the results

/// Writes and flushes `text`.
/// @throws Error for a full disk or a closed stream; ReaderGone for a pipe without a reader
void write_stdout(std::string_view text);

template <class... Args>
void print_stdout(fmt::format_string<Args...> text, Args&&... args) {
  write_stdout(fmt::format(text, std::forward<Args>(args)...));
}

}  // namespace tril::cli
