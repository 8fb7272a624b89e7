// Converts config.json to GGUF's metadata: the inverse of config_of_gguf() (gguf_config.h).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "format/gguf_write.h"

namespace tril::model {

/// Everything except the weights that is written to a file.
struct GgufHeader {
  std::string architecture;
  GgufMetadata metadata;            ///< only of the architecture
  std::vector<float> rope_factors;  ///< the tensor rope_freqs.weight; empty: none
  std::vector<float> rope_factors_long, rope_factors_short;
  std::string warning;  ///< where llama.cpp's results will differ; "": nowhere
};

/// The metadata of a model. @throws Error(usage) naming a key of config.json that llama.cpp does not support
GgufHeader gguf_header_of(const nlohmann::json& config);

}  // namespace tril::model
