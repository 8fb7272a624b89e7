// What `tril inspect` says of a model's parameters by part, and of the cost of a token.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "model_io/source/registry.h"

namespace tril::cli {

/// {"parts": [...], "active_parameters": N, "token": {...}}; in place of "token" "no_cost" with the reason, if no step of the model
/// can run by itself.
/// @param m  has no weights yet, and no other use afterwards
/// @param length  tokens of the text; none: 512, or all positions of a model with fewer
/// @throws Error(usage) if the model has fewer positions than `length`
nlohmann::ordered_json cost_json(model::Model& m, std::optional<std::int64_t> length);

/// The same as lines of "name           value".
std::string cost_text(const nlohmann::ordered_json& cost);

}  // namespace tril::cli
