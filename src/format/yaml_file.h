// YAML that came from outside, within limits, as JSON: what Marian writes its configurations and vocabularies in.
//
// Block and flow collections, plain and quoted scalars, one document. A plain scalar that reads as null, a boolean, an integer or a
// number is one, any other is a text, and so is every quoted scalar and every key. Of a key that comes twice the first counts.
// Non-goals: anchors, tags, several documents, which are refused.
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
