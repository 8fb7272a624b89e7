// The weights of a GGUF file under Hugging Face's names, computed from the file's blocks when they are read.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "format/gguf.h"
#include "kern/block_format.h"
#include "model_io/contents/weight_files.h"

namespace tril::model {

/// Views of all tensors of a file, which must outlive them. @throws Error for a tensor that the architecture does not have
/// @param config  the result of config_of_gguf() for the file
std::vector<StoredTensor> gguf_weights(const GgufFile& file, const nlohmann::json& config);

/// The format in which blocks of a type are served as they are; none: they are converted.
kern::BlockFormat block_format_of(GgufType type);

/// The name in a GGUF file of one of Hugging Face's tensors, present or not; an unknown name is returned unchanged.
std::string gguf_tensor_name(const nlohmann::json& config, std::string_view hf_name);

}  // namespace tril::model
