// Options that stand in the environment: --queue-size is TRIL_QUEUE_SIZE there.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/fields.h"
#include "cli/options/parse.h"

namespace tril::cli {

/// What the environment says of the fields; a list's values stand apart by white space.
std::vector<GivenValue> read_environment(const Fields& fields);

/// What is wrong with those of these settings ("TRIL_PROT=80") whose names begin as an option's do and are nobody's: "TRIL_PROT
/// is no option; did you mean TRIL_PORT?". What other parts of tril read, its tests among them, is theirs.
std::vector<std::string> unknown_settings(const Fields& fields, std::span<const std::string> settings);

/// All that the process was given.
std::vector<std::string> settings_of_process();

}  // namespace tril::cli
