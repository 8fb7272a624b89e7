// Reads and writes options as YAML, under the names of the flags.
#pragma once

#include <string>
#include <vector>

#include "base/fields.h"
#include "cli/options/parse.h"

namespace tril::cli {

/// The values of a YAML file, each key an option, with its file, line and key for errors.
/// @throws Error if the file cannot be read, is not YAML, is not a map of options to values, or repeats an option; for
///   an unknown key it suggests the nearest in `fields`
std::vector<GivenValue> read_yaml(const std::string& path, const Fields& fields);

/// All values as YAML for read_yaml(), under their headings, each with its help; unset options are comments.
std::string to_yaml(const Fields& fields);

}  // namespace tril::cli
