// Signals that are blocked in every thread and waited for in one, instead of being caught by a handler: a handler runs on
// the stack of whichever thread it interrupts, and the matrix products' generated code keeps other things than a stack in
// the stack pointer, so that a handler's frame would overwrite them.
#pragma once

#include <chrono>
#include <csignal>
#include <ctime>
#include <initializer_list>

namespace tril::cli {

class BlockedSignals {
 public:
  /// Blocks them in this thread, and in those that it begins from here on.
  explicit BlockedSignals(std::initializer_list<int> signals) {
    sigemptyset(&set_);
    for (const int s : signals) sigaddset(&set_, s);
    pthread_sigmask(SIG_BLOCK, &set_, &before_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

  /// The next one, or 0 where none comes within less than a second.
  int wait(std::chrono::milliseconds most) const {
    const timespec moment{0, static_cast<long>(std::chrono::nanoseconds(most).count())};
    const int signal = sigtimedwait(&set_, nullptr, &moment);
    return signal > 0 ? signal : 0;
  }
  /// Ends the process by the signal.
  void end_by(int signal) const {
    std::signal(signal, SIG_DFL);
    pthread_sigmask(SIG_UNBLOCK, &set_, nullptr);
    raise(signal);
  }

 private:
  sigset_t set_{}, before_{};
};

}  // namespace tril::cli
