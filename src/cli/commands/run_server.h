// The server of `tril serve`, which the Python package runs too.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

#include "cli/serving/serve_options.h"

namespace tril::cli {

/// What tells a running server to end: signals of the process, or a caller in their place.
struct ServerSignals {
  /// Waits up to this long. @return SIGINT or SIGTERM to end, SIGHUP to load the models again, or 0
  std::function<int(std::chrono::milliseconds most)> wait;
  std::function<void(int signal)>
      end_by;  ///< called for a second signal to end, if the first has not ended the server yet
  std::function<void(std::uint16_t port)> listening = {};  ///< called once the server accepts connections; may be empty
};

/// Serves until a signal ends it; then finishes the requests that have come.
/// @throws Error for options, keys or models that cannot be served
void run_server(ServeOptions o, const ServerSignals& signals);

}  // namespace tril::cli
