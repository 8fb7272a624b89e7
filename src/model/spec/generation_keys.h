// The keys that control generation. They are in generation_config.json; older versions of `transformers` wrote them to
// config.json.
#pragma once

#include <span>
#include <string_view>

namespace tril::model {

/// The keys that read_generation_config() supports or reports, except the ids of special tokens, which belong to the model.
std::span<const std::string_view> generation_keys();

}  // namespace tril::model
