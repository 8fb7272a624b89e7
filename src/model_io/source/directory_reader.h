// A model directory in Hugging Face's layout: config.json, generation_config.json, model.safetensors or the shards of
// model.safetensors.index.json, and a tokenizer's files.
#pragma once

#include "model_io/contents/model_reader.h"

namespace tril::model {

/// @return null if the path is not a directory
std::unique_ptr<ModelReader> open_directory(const std::filesystem::path& path);

/// Whether a directory holds Medusa heads (model_io/adapters/medusa_files.h) and no weights of a model.
bool is_medusa_directory(const std::filesystem::path& directory);

}  // namespace tril::model
