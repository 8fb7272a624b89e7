// Keys of GGUF files that have a value for each layer, and layers with a sliding window.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "model_io/gguf/gguf_reader.h"

namespace tril::model {

/// Values for more layers than the model has: those of layers that predict further tokens.
enum class FurtherLayers { refused, dropped };

/// A key with one size for all layers, or with one for each. @throws Error naming the key
std::vector<std::int64_t> sizes_by_layer(GgufReader& r, const char* key, std::int64_t layers, FurtherLayers further);

/// config.json's layer_types from attention.sliding_window_pattern. @throws Error naming the key
nlohmann::json layer_types_by_window(GgufReader& r, std::int64_t layers, FurtherLayers further);

/// Whether an entry of layer_types is a layer with a sliding window.
bool has_sliding_window(const nlohmann::json& type);

/// @throws Error(usage) naming a key of config.json whose value llama.cpp does not support, unless `ok`
void need_of_llama_cpp(bool ok, const nlohmann::json& config, const char* key);

}  // namespace tril::model
