// SIGINT, SIGTERM, SIGHUP and SIGUSR1, by which batch systems warn, for commands that do not go on after one: the program ends by the
// signal, as it would without this object, and its temporary files go first. A thread of its own waits for them
// (blocked_signals.h says why).
#pragma once

#include <atomic>
#include <thread>

#include "cli/io/blocked_signals.h"

namespace tril::cli {

class EndingSignal {
 public:
  /// Must be created before any thread that the signals might otherwise reach, and not beside a StopSignal.
  EndingSignal();
  ~EndingSignal();
  EndingSignal(const EndingSignal&) = delete;
  EndingSignal& operator=(const EndingSignal&) = delete;

 private:
  void watch() const;

  BlockedSignals signals_{SIGINT, SIGTERM, SIGHUP, SIGUSR1};
  std::atomic<bool> is_over_ = false;
  std::thread watcher_;
};

}  // namespace tril::cli
