// SIGINT and SIGTERM as a flag that a loop polls between its steps, or as a stop token; also SIGUSR1, by which batch
// systems warn, and which mpirun passes on without ending its ranks soon after. A thread of its own waits for them
// (blocked_signals.h says why).
#pragma once

#include <atomic>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "cli/io/blocked_signals.h"

namespace tril::cli {

class StopSignal {
 public:
  /// From now on the first signal is recorded, and one that comes a second or more later ends the program. Must be
  /// created before any thread that the signals might otherwise reach.
  /// @param announcement  logged after the first signal, for work that continues for a while; "": none
  explicit StopSignal(std::string announcement = {});
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  bool came() const;
  /// Stopped after a signal: for a search, or for any other wait.
  std::stop_token token() const;

 private:
  void watch();

  std::string announcement_;
  std::optional<BlockedSignals> signals_;  ///< of the first object only
  std::atomic<bool> ending_ = false;
  std::thread watcher_;
};

}  // namespace tril::cli
