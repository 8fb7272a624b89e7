// Options from and to YAML, with the names that the flags have.
#pragma once

#include <string>
#include <vector>

#include "base/fields.h"
#include "cli/options/parse.h"

namespace tril::cli {

/// The values in a YAML file, one key an option, each with its file, line and key for errors.
/// @throws Error  the file cannot be read, is not YAML, is not a map of options to values, or names an option twice; a
/// key
///                that `fields` lacks is answered with the nearest one
std::vector<GivenValue> read_yaml(const std::string& path, const Fields& fields);

/// All values as YAML that read_yaml takes back, under their headings, each with its help; what is unset is a comment.
std::string to_yaml(const Fields& fields);

}  // namespace tril::cli
