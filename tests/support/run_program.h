// Runs the real program as a user would: arguments and standard input in; exit code, output and messages out.
#pragma once

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "support/file_text.h"
#include "support/paths.h"

namespace tril {

/// A folder that is removed after the test.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "tril-cli-XXXXXX").string();
    if (!mkdtemp(name.data())) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  ~ScratchFolder() {
    std::error_code ignored;  // a browser that is ending may still write there
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  std::string at(const std::string& name) const { return (path_ / name).string(); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(at(name), std::ios::binary) << text;
    return at(name);
  }

 private:
  std::filesystem::path path_;
};

struct Ran {
  int code = -1;   ///< exit code, or -1 after a signal
  int signal = 0;  ///< the signal that ended it
  std::string out, err;
};

/// Settings of a run.
struct Launch {
  std::string input;                     ///< its standard input
  std::string stdout_to;                 ///< another destination of its output, such as "/dev/full"; empty: Ran::out
  std::function<void()> before;          ///< in the new process, right before the program: its limits
  std::function<void(pid_t)> meanwhile;  ///< in the test, while it runs
};

/// Runs `words` (the program's path first) until it ends.
inline Ran run_words(std::vector<std::string> words, const Launch& launch = {}) {
  const ScratchFolder folder;
  const std::string in = folder.write("in", launch.input),
                    out = launch.stdout_to.empty() ? folder.at("out") : launch.stdout_to, err = folder.at("err");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  const pid_t child = fork();
  if (child == 0) {
    dup2(open(in.c_str(), O_RDONLY), 0);
    dup2(open(out.c_str(), O_WRONLY | O_CREAT, 0600), 1);
    dup2(open(err.c_str(), O_WRONLY | O_CREAT, 0600), 2);
    if (launch.before) launch.before();
    execv(argv[0], argv.data());
    _exit(127);
  }
  if (launch.meanwhile) launch.meanwhile(child);
  int status = 0;
  waitpid(child, &status, 0);
  Ran ran;
  if (WIFEXITED(status)) ran.code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) ran.signal = WTERMSIG(status);
  ran.out = launch.stdout_to.empty() ? file_text(out) : "";
  ran.err = file_text(err);
  return ran;
}

inline Ran run_tril(std::vector<std::string> args, const Launch& launch) {
  args.insert(args.begin(), test::tril_program());
  return run_words(std::move(args), launch);
}
inline Ran run_tril(std::vector<std::string> args, const std::string& input = "", const std::string& stdout_to = "") {
  return run_tril(std::move(args), Launch{.input = input, .stdout_to = stdout_to, .before = {}, .meanwhile = {}});
}

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

}  // namespace tril
