// Ctrl-C in an interactive program: it ends the current answer, and at the prompt the program. A thread of its own
// waits for the signals (blocked_signals.h says why).
#pragma once

#include <array>
#include <atomic>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "cli/io/blocked_signals.h"

namespace tril::cli {

class Interrupt {
 public:
  /// Must be created before any other thread, so that all of them block the signals.
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  /// Until end_answer(), a signal stops this token, and one that comes a second or more later ends the program.
  std::stop_token begin_answer();
  void end_answer();
  /// The next line of standard input, without its line end; nothing at the end of input, after a signal outside of an
  /// answer, or after SIGTERM.
  std::optional<std::string> read_line();

 private:
  void watch();

  BlockedSignals signals_{SIGINT, SIGTERM};
  std::array<int, 2> event_{-1, -1};  ///< a pipe; a byte is written to it when the program is to end
  std::atomic<bool> ending_ = false;
  std::mutex mutex_;
  std::optional<std::stop_source> answer_;
  std::string buffer_;
  bool at_end_ = false;
  std::thread watcher_;
};

}  // namespace tril::cli
