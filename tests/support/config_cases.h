// A config.json with some keys changed, and the model or the error that it gives.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "model_io/source/registry.h"
#include "support/error_of.h"

namespace tril::testing {

inline nlohmann::json with(nlohmann::json config, const nlohmann::json& more) {
  config.update(more);
  return config;
}

/// Without memory for its weights. @throws Error if the config is refused
inline std::unique_ptr<model::Model> made(const nlohmann::json& config) {
  return model::make(JsonObject(config, "config.json"));
}

/// "" if the config is accepted.
inline std::string error_for(const nlohmann::json& config) {
  return error_of([&] { made(config); });
}

}  // namespace tril::testing
