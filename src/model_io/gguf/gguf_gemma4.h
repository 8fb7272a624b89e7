// Gemma 4 in GGUF files: layers of two kinds, with heads, key heads and feed-forwards of different sizes [llama.cpp,
// llama_model_gemma4].
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "model_io/gguf/gguf_header.h"
#include "model_io/gguf/gguf_reader.h"
#include "model_io/gguf/gguf_tensors.h"

namespace tril::model {

/// Adds the keys that differ by kind of layer to the config.json of a gemma4_text.
/// @throws Error naming the key that is wrong
void read_gguf_gemma4(GgufReader& r, nlohmann::json& config);

/// Adds these keys to the header. @throws Error(usage) for an option that llama.cpp does not support
void write_gguf_gemma4(const nlohmann::json& config, GgufHeader& h);

/// `rules` of a gemma3_text, completed for gemma4_text.
std::vector<GgufRule> gemma4_gguf_rules(std::vector<GgufRule> rules, const nlohmann::json& config);

}  // namespace tril::model
