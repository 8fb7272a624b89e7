// Rotary positions in GGUF's metadata and in config.json. What Hugging Face calls llama3 is in GGUF a tensor of factors
// by which frequencies are divided, rope_freqs.weight; longrope is a pair of such tensors.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "model_io/gguf_config.h"
#include "model_io/gguf_reader.h"

namespace tril::model {

/// Adds rope_scaling and partial_rotary_factor to a config that has its sizes.
void read_gguf_rope(GgufReader& reader, nlohmann::json& config);

/// Adds what config.json says about rotary positions to the header.
void write_gguf_rope(const nlohmann::json& config, GgufHeader& header);

}  // namespace tril::model
