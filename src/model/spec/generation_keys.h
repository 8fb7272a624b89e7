// The keys that say how a model is to generate. They stand in generation_config.json; directories of older versions of
// `transformers` have them in config.json.
#pragma once

#include <span>
#include <string_view>

namespace tril::model {

/// What load_generation_config() obeys, but for ids that a model has itself.
std::span<const std::string_view> generation_keys();

}  // namespace tril::model
