#include "tokenizer/files/config_values.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace tril {

std::optional<std::string> token_content(const nlohmann::json& token) {
  const nlohmann::json& value = token.is_object() && token.contains("content") ? token["content"] : token;
  return value.is_string() ? std::optional(value.get<std::string>()) : std::nullopt;
}

std::optional<std::string> config_text(const nlohmann::json& config, const std::string& key) {
  const auto found = config.find(key);
  return found == config.end() ? std::nullopt : token_content(*found);
}

std::optional<bool> config_flag(const nlohmann::json& config, const std::string& key) {
  const auto found = config.find(key);
  return found != config.end() && found->is_boolean() ? std::optional(found->get<bool>()) : std::nullopt;
}

std::optional<std::int32_t> config_max_length(const nlohmann::json& config) {
  const auto length = config.find("model_max_length");
  if (length == config.end() || !length->is_number()) return std::nullopt;
  return static_cast<std::int32_t>(std::clamp(length->get<double>(), 1.0, static_cast<double>(1 << 30)));
}

}  // namespace tril
