// The weights of a GGUF file by the names that Hugging Face's files have for them, computed from the file's blocks as they are
// read.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "format/gguf.h"
#include "format/safetensors.h"

namespace tril::model {

/// Views of all tensors of a file, which must outlive them; Error where it has a tensor that the architecture has not.
/// @param config  what config_of_gguf() makes of the file
std::vector<WeightView> gguf_weights(const GgufFile& file, const nlohmann::json& config);

/// What such a file calls a tensor of Hugging Face's, whether it has it or not; a name of no tensor as it is.
std::string gguf_tensor_name(const nlohmann::json& config, std::string_view hf_name);

}  // namespace tril::model
