// The program: every word of it is in app.cpp and the NAME_command.cpp files.
#include <fcntl.h>
#include <unistd.h>

#include <csignal>

#include "cli/app.h"

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
  // A reader that leaves (`tril translate | head`) ends the program quietly, whatever the parent process had set.
  std::signal(SIGPIPE, SIG_DFL);
  std::signal(SIGXFSZ, SIG_IGN);  // a limit on a file's size is an error like a full disk, and leaves no half file
  return tril::cli::make_app().run({argv + 1, argv + argc});
}
