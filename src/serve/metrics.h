// The server's numbers in the text format of Prometheus.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "serve/models.h"

namespace tril::serve {

/// @param answers  by route and status
/// @param seconds  that requests took
std::string metrics_text(const std::vector<Models::Status>& models,
                         const std::map<std::pair<std::string, int>, std::uint64_t>& answers, const Histogram& seconds);

}  // namespace tril::serve
