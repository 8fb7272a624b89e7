// The server's metrics in the text format of Prometheus.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "serve/engine/models.h"

namespace tril::serve {

/// Numbers of the server as a whole.
struct ServerNumbers {
  std::map<std::pair<std::string, int>, std::uint64_t> answers;  ///< by route and status
  std::size_t connections = 0;
  std::size_t side_waiting = 0, side_running = 0;  ///< jobs of the side worker
};

/// @param seconds  durations of requests
std::string metrics_text(const std::vector<Models::Status>& models, const ServerNumbers& server,
                         const Histogram& seconds);

}  // namespace tril::serve
