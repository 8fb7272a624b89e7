// The program: every word of it is in app.cpp and the NAME_command.cpp files.
#include <fcntl.h>
#include <unistd.h>

#include <csignal>

#include "cli/app/app.h"
#include "cli/io/standard_output.h"

namespace {

// A file that is opened while a standard stream is closed would get its number, and messages would go into that file.
// What takes the place of each fails as a closed stream does: it is open for the other direction only.
void occupy_closed_streams() {
  for (int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(stream, F_GETFD) < 0)
      static_cast<void>(open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY));  // the lowest number free
}

}  // namespace

int main(int argc, char** argv) {
  occupy_closed_streams();
  std::signal(SIGPIPE, SIG_IGN);  // a reader that leaves is an error (standard_output.h), and messages may have none
  std::signal(SIGXFSZ, SIG_IGN);  // a limit on a file's size is an error like a full disk, and leaves no half file
  const int code = tril::cli::make_app().run({argv + 1, argv + argc});
  if (code == tril::cli::exit_reader_gone) {  // as the signal would have ended it, now that all is in order
    std::signal(SIGPIPE, SIG_DFL);
    std::raise(SIGPIPE);
  }
  return code;
}
