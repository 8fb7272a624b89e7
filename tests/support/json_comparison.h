// Ubuntu 24.04's version of the JSON library compares no text with a JSON value, Debian 12's does. Without this, tests would compile on
// one of them only. Write value.get<std::string>(), or put the JSON value first.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace nlohmann {

bool operator==(const std::string& text, const json& value) = delete;
bool operator==(const std::string& text, const ordered_json& value) = delete;
inline bool operator==(const json& value, const std::string& text) {
  return value.is_string() && value.get_ref<const std::string&>() == text;
}
inline bool operator==(const ordered_json& value, const std::string& text) {
  return value.is_string() && value.get_ref<const std::string&>() == text;
}

}  // namespace nlohmann
