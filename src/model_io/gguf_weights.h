// A GGUF file as the model directory that Hugging Face would have of it: config.json, generation_config.json, and weights
// by their names there, which are computed from the file's blocks as they are read.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "format/gguf.h"
#include "format/safetensors.h"

namespace tril {

struct GgufWeights {
  std::shared_ptr<const GgufFile> file;
  nlohmann::json config;            ///< config.json
  std::vector<WeightView> weights;  ///< in order of name; valid as long as `file` lives
};

/// Opens and checks a file: Error where its architecture is not supported, where a key that changes results is not
/// known, or where it has a tensor that the architecture does not.
GgufWeights open_gguf_weights(const std::string& path);

}  // namespace tril
