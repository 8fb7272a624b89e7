#include "cli/commands/program.h"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>

#include "cli/app/app.h"
#include "cli/io/standard_output.h"

namespace tril::cli {
namespace {

// If a standard stream is closed, the next file to be opened would get its number, and messages would go into that
// file. Each is replaced by a descriptor that fails like a closed stream: it is open for the other direction only.
void occupy_closed_streams() {
  for (int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(stream, F_GETFD) < 0)
      static_cast<void>(open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY));  // the lowest free number
}

}  // namespace

int run_program(const std::vector<std::string>& args) {
  occupy_closed_streams();
  std::signal(SIGPIPE, SIG_IGN);  // a reader that leaves is an error (standard_output.h), except for messages
  std::signal(SIGXFSZ, SIG_IGN);  // a file-size limit is an error like a full disk, and leaves no partial file
  const int code = make_app().run(args);
  if (code == exit_reader_gone) {  // ends as by the signal, after an orderly shutdown
    std::signal(SIGPIPE, SIG_DFL);
    std::raise(SIGPIPE);
  }
  return code;
}

}  // namespace tril::cli
