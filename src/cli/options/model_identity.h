// Whether two directories hold the same model.
#pragma once

#include <string>

#include "cli/options/decoding_options.h"

namespace tril::cli {

/// A text that differs where config.json, any byte of the weight files, or --precision differ. Reads them all, once.
std::string model_identity(const DecodingOptions& o);

/// A text that differs where anything differs that decoding reads of a model's directory, its tokenizer and
/// generation_config.json too; or of a single file.
std::string directory_identity(const std::string& path);

}  // namespace tril::cli
