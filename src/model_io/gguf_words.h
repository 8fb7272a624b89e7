// Errors about a GGUF file in the file's own words: what is read of it goes by Hugging Face's names inside.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "base/error.h"
#include "format/gguf.h"

namespace tril::model {

/// The same error with the file's names for keys and tensors in the place of config.json's and model.safetensors'.
/// @param config  what config_of_gguf() makes of the file
Error in_words_of(const GgufFile& file, const nlohmann::json& config, const Error& error);

}  // namespace tril::model
