// Values in tokenizer_config.json and similar files. A value of another type counts as absent.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace tril {

/// The text of a token, which is given as a string or as an object with the string as "content".
std::optional<std::string> token_content(const nlohmann::json& token);
/// The same for the value of a key.
std::optional<std::string> config_text(const nlohmann::json& config, const std::string& key);
std::optional<bool> config_flag(const nlohmann::json& config, const std::string& key);
/// "model_max_length", at most 2^30; "no limit" is written as 1e30.
std::optional<std::int32_t> config_max_length(const nlohmann::json& config);

}  // namespace tril
