// The whole program, without its process: main() and the Python package run it.
#pragma once

#include <string>
#include <vector>

namespace tril::cli {

/// Runs the program with these arguments, without its name: prints errors to stderr and returns the exit code. If the reader of
/// standard output has left, the process ends by SIGPIPE. Sets what signals of pipes and limits do in this process.
int run_program(const std::vector<std::string>& args);

}  // namespace tril::cli
