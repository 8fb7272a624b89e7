// Properties that llama.cpp's code for an architecture fixes, so that a GGUF file has no key for them. A config.json that is
// made from a file gets them; a model whose config.json says otherwise cannot be written.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace tril::model {

/// Keys of a family's config.json, with the only values that llama.cpp computes.
nlohmann::json gguf_fixed(std::string_view model_type);

/// layer_types with windows in the first p - 1 of every p layers; with pattern 0, in all (llama.cpp's set_swa_pattern).
std::vector<std::string> gguf_layer_types(std::int64_t layers, std::int64_t pattern);
/// The pattern of a file without the key; 0: the family has none.
std::int64_t usual_gguf_pattern(std::string_view model_type);

/// Gemma's query_pre_attn_scalar: llama.cpp recognises the models of 27B by their layers.
std::int64_t gemma_query_scalar(const nlohmann::json& config);

}  // namespace tril::model
