// Keys of config.json that concern generation, and their values in a config inside it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "model/spec/generation_keys.h"

namespace tril::model {

/// Calls take(key) for each key of a config.json that concerns generation.
template <class Take>
void for_generation_keys(const Take& take) {
  for (const std::string_view key : generation_keys()) take(std::string(key));
  for (const char* key : {"eos_token_id", "pad_token_id", "bos_token_id"}) take(std::string(key));
}

/// A config.json whose unset generation keys are those of the config of its decoder (t5gemma) or of its text model, as in
/// `transformers`.
nlohmann::json with_inner_generation_keys(nlohmann::json config);

}  // namespace tril::model
