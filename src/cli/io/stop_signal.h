// SIGINT and SIGTERM as a question that a loop asks between its steps, or as a stop token; and SIGUSR1, by which batch
// systems warn, and which mpirun passes on without ending its ranks soon after. They are waited for in a thread of their
// own (blocked_signals.h says why).
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
  /// From here on the first of these signals is remembered, and one that comes a second or more later ends the program. To be
  /// made before any thread that the signals might otherwise reach.
  /// @param announcement  logged once the first one comes, for work that goes on a while; "": nothing
  explicit StopSignal(std::string announcement = {});
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  bool came() const;
  /// Asked to stop once a signal came: for a search, or for whoever waits for something else.
  std::stop_token token() const;

 private:
  void watch();

  std::string announcement_;
  std::optional<BlockedSignals> signals_;  ///< of the first object alone
  std::atomic<bool> ending_ = false;
  std::thread watcher_;
};

}  // namespace tril::cli
