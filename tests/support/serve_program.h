// `tril serve`, run for as long as a test of its start needs.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include "support/run_program.h"

namespace tril {

/// Runs `tril serve` with `args` until it refuses them, or until it has logged that it listens and that its model is ready; then
/// stops it. Ran::err holds its log. A server that has not logged this within a minute is stopped too.
inline Ran serve_until_ready(std::vector<std::string> args) {
  const ScratchFolder folder;
  const std::string log = folder.at("log");
  Launch launch;
  launch.before = [&] { dup2(open(log.c_str(), O_WRONLY | O_CREAT, 0600), 2); };
  launch.meanwhile = [&](pid_t child) {
    const auto has = [&](const std::string& part) { return file_text(log).find(part) != std::string::npos; };
    const auto has_ended = [&] {
      siginfo_t info{};
      return waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == child;
    };
    for (int i = 0; i < 6000 && !has_ended() && !(has("listening on") && has("is ready")); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    kill(child, SIGTERM);
  };
  args.insert(args.begin(), "serve");
  Ran ran = run_tril(std::move(args), launch);
  ran.err = file_text(log);
  return ran;
}

}  // namespace tril
