#include "cli/standard_output.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>

#include "base/error.h"

namespace tril::cli {
namespace {

// A stream that has failed does nothing more, so that the reason is known only right after the write that failed.
void check_written(bool written) {
  if (!written) fail("standard output", fmt::format("cannot be written ({})", errno ? std::strerror(errno) : "error"));
}

}  // namespace

void write_stdout(std::string_view text) {
  errno = 0;
  std::cout << text;
  check_written(std::cout.good());
  flush_stdout();
}

void flush_stdout() {
  errno = 0;
  std::cout.flush();
  check_written(std::fflush(stdout) == 0 && std::cout.good());
}

}  // namespace tril::cli
