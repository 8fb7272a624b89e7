// Results on standard output, and nothing else there: what could not be written was not done, and the message says why.
//
// SIGPIPE is ignored (main.cpp), so that a reader that leaves (`tril translate | head`) is an error like others, which ends
// threads and removes half files on its way up. App::run knows it by its type and ends the program as the signal would have
// done; a server's log, which serving does not depend on, catches it. Messages to standard error that nobody reads are lost.
#pragma once

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace tril::cli {

constexpr int exit_reader_gone = 141;  ///< what a shell says of a program that SIGPIPE ended: nobody reads its results

/// Writes `text` at once, so that a reader sees it.
/// @throws Error for a full disk, a closed stream; ReaderGone for a pipe that nobody reads any more
void write_stdout(std::string_view text);

template <class... Args>
void print_stdout(fmt::format_string<Args...> text, Args&&... args) {
  write_stdout(fmt::format(text, std::forward<Args>(args)...));
}

}  // namespace tril::cli
