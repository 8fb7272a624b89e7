// Options from environment variables: TRIL_QUEUE_SIZE sets --queue-size.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/fields.h"
#include "cli/options/parse.h"

namespace tril::cli {

/// The fields' values in the environment; a list's values are separated by white space.
std::vector<GivenValue> read_environment(const Fields& fields);

/// Errors for settings ("TRIL_PROT=80") with the prefix of options that are not known: "TRIL_PROT is not an option; did you
/// mean TRIL_PORT?". Ignores variables of other parts of tril, including its tests.
std::vector<std::string> unknown_settings(const Fields& fields, std::span<const std::string> settings);

/// All environment variables of the process.
std::vector<std::string> settings_of_process();

}  // namespace tril::cli
