// The keys that control generation. They are in generation_config.json; directories of older `transformers` versions
// have them in config.json.
#pragma once

#include <span>
#include <string_view>

namespace tril::model {

/// The keys that load_generation_config() supports, except ids that a model itself has.
std::span<const std::string_view> generation_keys();

}  // namespace tril::model
