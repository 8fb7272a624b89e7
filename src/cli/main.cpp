// The program: every word of it is in app.cpp and the NAME_command.cpp files.
#include <csignal>

#include "cli/app.h"

int main(int argc, char** argv) {
  // A reader that leaves (`tril translate | head`) ends the program quietly, whatever the parent process had set.
  std::signal(SIGPIPE, SIG_DFL);
  return tril::cli::make_app().run({argv + 1, argv + argc});
}
