// A model directory as Hugging Face lays it out: config.json, generation_config.json, model.safetensors or the shards of
// model.safetensors.index.json, and a tokenizer's files.
#pragma once

#include "model_io/model_reader.h"

namespace tril::model {

/// Null where the path is no directory.
std::unique_ptr<ModelReader> open_directory(const std::filesystem::path& path);

}  // namespace tril::model
