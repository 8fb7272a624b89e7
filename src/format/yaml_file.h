// Parses untrusted YAML into JSON, within limits. Marian writes its configurations and vocabularies in YAML.
//
// Supported are block and flow collections, and plain and quoted scalars. A plain scalar that spells null, a boolean, an integer or
// a number has that type. Other plain scalars, quoted scalars and keys are strings. If a key occurs twice, the first value counts.
// Anchors, tags and several documents in one text are refused.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "format/json_file.h"

namespace tril {

/// @param where  names the text in errors
/// @throws Error with the line
nlohmann::json parse_yaml(std::string_view text, const std::string& where, const JsonLimits& limits = {});

}  // namespace tril
