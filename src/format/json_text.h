// JSON as text, for strings with any bytes.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace tril {

/// Names of files and models and vocabulary entries need not be UTF-8: invalid bytes become U+FFFD.
/// @param indent  spaces per level, with line breaks; -1: all on one line
std::string json_text(const nlohmann::json& json, int indent = -1);
std::string json_text(const nlohmann::ordered_json& json, int indent = -1);

}  // namespace tril
