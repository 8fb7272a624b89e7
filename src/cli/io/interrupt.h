// Ctrl-C in a program that goes on: it ends the answer that is being written, and at the prompt the program. The signals are
// waited for in a thread of their own (blocked_signals.h says why).
#pragma once

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
  /// To be made before any other thread, so that all of them block the signals.
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  /// From here to end_answer() a signal stops this token, and one that comes a second or more later ends the program.
  std::stop_token begin_answer();
  void end_answer();
  /// The next line of standard input, without its end; nothing at its end, or once a signal came while nothing was being
  /// written, or SIGTERM at any time.
  std::optional<std::string> read_line();

 private:
  void watch();

  BlockedSignals signals_{SIGINT, SIGTERM};
  int event_ = -1;  ///< readable once the program is to end
  std::atomic<bool> ending_ = false;
  std::mutex mutex_;
  std::optional<std::stop_source> answer_;
  std::string buffer_;
  bool at_end_ = false;
  std::thread watcher_;
};

}  // namespace tril::cli
