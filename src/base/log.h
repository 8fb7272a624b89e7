// The program's log: spdlog's default logger, on stderr, so that stdout holds only results. Libraries below cli/ log
// through spdlog::info and its siblings; only main sets it up.
#pragma once

#include <string>

#include "base/fields.h"

namespace tril {

struct LogOptions {
  bool quiet = false;          ///< warnings and errors only, and no progress line
  std::string level = "info";  ///< debug, info, warning, error or off
};

/// --quiet and --log-level.
Fields fields_of(LogOptions& options);

/// Sends spdlog's default logger to stderr: coloured times on a terminal, plain "tril: warning: ..." lines elsewhere.
void set_up_log(const LogOptions& options);

/// True if stderr is a terminal, where a progress line makes sense.
bool stderr_is_terminal();

}  // namespace tril
