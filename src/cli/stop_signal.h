// SIGINT and SIGTERM as a question that a loop asks between its steps, or as a stop token.
//
// They are blocked in every thread and waited for in one of their own, instead of being caught by a handler: a handler runs on
// the stack of whichever thread it interrupts, and the matrix products' generated code keeps other things than a stack in
// the stack pointer, so that a handler's frame would overwrite them.
#pragma once

#include <atomic>
#include <csignal>
#include <stop_token>
#include <thread>

namespace tril::cli {

class StopSignal {
 public:
  /// From here on the first of these signals is remembered, and one that comes a second or more later ends the program. To be
  /// made before any thread that the signals might otherwise reach.
  StopSignal();
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  bool came() const;
  /// Asked to stop once a signal came: for a search, or for whoever waits for something else.
  std::stop_token token() const;

 private:
  void watch();

  sigset_t before_{};
  std::atomic<bool> ending_ = false;
  std::thread watcher_;
};

}  // namespace tril::cli
