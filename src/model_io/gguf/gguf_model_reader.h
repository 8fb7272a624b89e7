// Reads a GGUF file as the equivalent Hugging Face model directory.
#pragma once

#include "model_io/contents/model_reader.h"

namespace tril::model {

/// @return null if the path is not a GGUF file
std::unique_ptr<ModelReader> open_gguf(const std::filesystem::path& path);

}  // namespace tril::model
