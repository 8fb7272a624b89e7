// JSON as text, whatever bytes its strings hold.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace tril {

/// Names of files, of models and of what a vocabulary holds need not be UTF-8: what is none becomes U+FFFD.
/// @param indent  of each level, on lines of their own; -1: all on one line
std::string json_text(const nlohmann::json& json, int indent = -1);
std::string json_text(const nlohmann::ordered_json& json, int indent = -1);

}  // namespace tril
