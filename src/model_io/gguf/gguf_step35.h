// Step 3.5 Flash in GGUF files [llama.cpp, llama_model_step35]: sizes and windows by layer, bounds of SwiGLU, and a half of each head
// rotated in the layers without a window.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "model_io/gguf/gguf_header.h"
#include "model_io/gguf/gguf_reader.h"

namespace tril::model {

/// Completes the config.json of a step3p5. @throws Error naming the key that is wrong
void read_gguf_step35(GgufReader& r, nlohmann::json& config);

/// Adds what is not one key to the header. @throws Error(usage) for an option that llama.cpp does not support
void write_gguf_step35(const nlohmann::json& config, GgufHeader& h);

}  // namespace tril::model
