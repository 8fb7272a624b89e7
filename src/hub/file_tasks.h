// Runs several downloads at once, each on a thread with its own connection. The first error stops all of them.
#pragma once

#include <cstddef>
#include <functional>
#include <stop_token>

#include "hub/http_client.h"

namespace tril::hub {

/// One download of a list. @throws Error; Stopped when `stop` is requested
using FileTask = std::function<void(HttpClient& client, std::size_t number, const std::stop_token& stop)>;

/// Runs the tasks 0 to count - 1 in this order, at most `threads` at once.
/// @param watch  called on this thread several times a second
/// @throws the error of the first task that fails, after the others have stopped
void run_file_tasks(const HubSettings& settings, std::size_t count, std::size_t threads, const FileTask& task,
                    const std::function<void()>& watch);

}  // namespace tril::hub
