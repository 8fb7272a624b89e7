// Options that every command has.
#pragma once

#include <string>

#include "base/log.h"

namespace tril::cli {

struct GeneralOptions {
  bool help = false;
  LogOptions log;
  std::string config;
  bool dump_config = false;
};

/// @param reads_config  whether the command takes --config and --dump-config
Fields fields_of(GeneralOptions& options, bool reads_config);

}  // namespace tril::cli
