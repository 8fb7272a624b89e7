// Rotary positions in GGUF's metadata and in config.json. Hugging Face's llama3 scaling is a tensor in GGUF,
// rope_freqs.weight, whose values divide the frequencies; longrope is a pair of such tensors.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "model_io/gguf_header.h"
#include "model_io/gguf_reader.h"

namespace tril::model {

/// Adds rope_scaling and partial_rotary_factor to a config whose sizes are set.
void read_gguf_rope(GgufReader& reader, nlohmann::json& config);

/// Adds config.json's rotary positions to the header.
void write_gguf_rope(const nlohmann::json& config, GgufHeader& header);

}  // namespace tril::model
