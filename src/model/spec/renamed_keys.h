// Keys of a publisher's own code under the names that a family's reader has for them.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "format/json_file.h"

namespace tril::model {

struct RenamedConfig {
  nlohmann::json json;
  KeyNames names;  ///< what the file calls the renamed keys
};

/// A copy of config.json in which each key `first` is called `second`.
/// @throws Error naming the key if both are present with different values
RenamedConfig rename_keys(const JsonObject& config, std::span<const std::pair<const char*, const char*>> keys);

}  // namespace tril::model
