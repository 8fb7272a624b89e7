// The program's entry; everything else is in program.cpp, app.cpp and the NAME_command.cpp files.
#include "cli/commands/program.h"

int main(int argc, char** argv) {
  return tril::cli::run_program({argv + 1, argv + argc});
}
