// A GGUF file as the model directory that Hugging Face would have of it.
#pragma once

#include "model_io/model_reader.h"

namespace tril::model {

/// Null where the path is no GGUF file.
std::unique_ptr<ModelReader> open_gguf(const std::filesystem::path& path);

}  // namespace tril::model
