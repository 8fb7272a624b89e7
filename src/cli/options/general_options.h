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
  bool pull = false;
};

/// The properties of a command that determine its general options.
struct CommandTraits {
  bool reads_config = false;  ///< --config and --dump-config
  bool opens_models = false;  ///< --pull
};

Fields fields_of(GeneralOptions& options, const CommandTraits& traits);

}  // namespace tril::cli
