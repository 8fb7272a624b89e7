// Identifies models by their contents.
#pragma once

#include <string>

#include "decode/models/decoding_options.h"

namespace tril::cli {

/// A text that differs if config.json, any byte of the weight files or of the adapter, or --precision differs. All
/// parts of a split GGUF file count. Reads all of them once.
std::string model_identity(const DecodingOptions& o);

/// A text that differs if anything that decoding reads from a model's directory differs, including its tokenizer and
/// generation_config.json; also for a single file, with the other parts of its model.
std::string directory_identity(const std::string& path);

}  // namespace tril::cli
