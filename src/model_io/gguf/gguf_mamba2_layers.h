// The kinds of the layers of families with Mamba-2 in config.json: what gguf_mamba2.h's reader and writer share.
#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "model/families/layer_kinds.h"

namespace tril::model {

/// What the families' config.json calls the sizes of Mamba-2.
struct Mamba2SizeKeys {
  const char *taps, *state, *groups, *heads;
};
Mamba2SizeKeys mamba2_size_keys(std::string_view family);

inline bool is_mamba_layer(const nlohmann::json& type) {
  return kMambaLayer.is(type.get<std::string>());
}

inline bool is_attention_layer(const nlohmann::json& type) {
  return kAttentionLayer.is(type.get<std::string>());
}

inline bool is_feed_forward_layer(const nlohmann::json& type) {
  return kFeedForwardLayer.is(type.get<std::string>());
}

inline bool is_expert_layer(const nlohmann::json& type) {
  return kExpertLayer.is(type.get<std::string>());
}

inline bool has_layer(const nlohmann::json& types, bool (*is)(const nlohmann::json&)) {
  return std::any_of(types.begin(), types.end(), is);
}

}  // namespace tril::model
