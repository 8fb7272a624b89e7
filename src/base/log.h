// The program's log: spdlog's default logger, on stderr, so that the standard output has only results. Libraries
// below cli/ log through logger(); only main sets it up.
#pragma once

#include <spdlog/logger.h>

#include <memory>
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

/// Where libraries write messages: spdlog's default logger if somebody gave it a name, as set_up_log() does; else warnings and
/// errors go to stderr. A library must not write to the standard output, as spdlog's own default logger does.
std::shared_ptr<spdlog::logger> logger();

/// True if stderr is a terminal, where a progress line makes sense.
bool stderr_is_terminal();

}  // namespace tril
