// Whether two directories hold the same model.
#pragma once

#include <string>

#include "cli/decoding_options.h"

namespace tril::cli {

/// A text that differs where config.json, any byte of the weight files, or --precision differ. Reads them all, once.
std::string model_identity(const DecodingOptions& o);

}  // namespace tril::cli
