// Signals that are blocked in every thread and awaited in one, instead of handled: a handler runs on the stack of
// whichever thread it interrupts, but generated code of matrix products uses the stack pointer for other data, which a
// handler's frame would overwrite.
#pragma once

#include <chrono>
#include <csignal>
#include <ctime>
#include <initializer_list>

#include "base/unfinished_outputs.h"

namespace tril::cli {

class BlockedSignals {
 public:
  /// Blocks the signals in this thread, and in threads that it starts afterwards.
  explicit BlockedSignals(std::initializer_list<int> signals) {
    sigemptyset(&set_);
    for (const int s : signals) sigaddset(&set_, s);
    pthread_sigmask(SIG_BLOCK, &set_, &before_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

  /// The next signal, or 0 after `most`, which must be below one second.
  int wait(std::chrono::milliseconds most) const {
    const timespec moment{0, static_cast<long>(std::chrono::nanoseconds(most).count())};
    const int signal = sigtimedwait(&set_, nullptr, &moment);
    return signal > 0 ? signal : 0;
  }
  /// Removes unfinished outputs, once none is being put in its place, and ends the process with the signal.
  void end_by(int signal) const {
    remove_unfinished_outputs();
    std::signal(signal, SIG_DFL);
    pthread_sigmask(SIG_UNBLOCK, &set_, nullptr);
    raise(signal);
  }

 private:
  sigset_t set_{}, before_{};
};

}  // namespace tril::cli
