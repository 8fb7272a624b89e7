#include "cli/io/standard_output.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/streams.h"

namespace tril::cli {

void write_stdout(std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(STDOUT_FILENO, text.data(), text.size());
    if (n > 0) {
      text.remove_prefix(static_cast<std::size_t>(n));
      continue;
    }
    const int error = n < 0 ? errno : EIO;
    if (error == EINTR) continue;
    if (error == EPIPE) throw ReaderGone("standard output");
    pollfd room{STDOUT_FILENO, POLLOUT, 0};
    if ((error == EAGAIN || error == EWOULDBLOCK) && ::poll(&room, 1, -1) >= 0)
      continue;  // the parent uses non-blocking output
    fail("standard output", fmt::format("cannot be written ({})", std::strerror(error)));
  }
}

}  // namespace tril::cli
