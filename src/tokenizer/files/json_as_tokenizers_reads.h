// JSON with numbers as the `tokenizers` library reads them, which is not always the nearest double.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

namespace tril {

/// The document; nothing if it is not JSON or nested more than 64 deep.
std::optional<nlohmann::json> json_as_tokenizers_reads(std::string_view text);

}  // namespace tril
