// Makes models of the known families from a configuration, loads them from a ModelSource, and saves them as Hugging Face
// directories.
#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "format/json_file.h"
#include "model/spec/model.h"
#include "model_io/source/model_source.h"

namespace tril::model {

/// The names of the known families ("marian", ...): values of config.json's model_type or, with model_type "tril", of
/// architecture.
std::vector<std::string> families();

/// The model that a config.json describes, with weights neither allocated nor set.
std::unique_ptr<Model> make(const JsonObject& config);
/// The same for a published model; the names of its weights complete an incomplete config.json.
std::unique_ptr<Model> make(const ModelSource& source);

/// Loads a published model. @throws Error naming the first file, key or tensor that is missing or has another size
/// @param serving  the precision of a model that only serves, which takes less memory; none: float32, and the model can also be
///                 trained and saved
/// @param threads  the number of threads that convert weights, at least 1 (set_weights.h)
std::unique_ptr<Model> load(const ModelSource& source, std::optional<nn::Precision> serving = {}, int threads = 1);

/// @throws Error(usage) if `source` cannot be served in `precision`: only a file of blocks is served in blocks
void check_servable(const ModelSource& source, nn::Precision precision);

/// Reads the weights of `source` into a model built for it.
void load_weights(Model& m, const ModelSource& source, int threads = 1);

/// Writes config.json, generation_config.json and model.safetensors, each atomically.
void save(const Model& m, const std::filesystem::path& directory);
/// The same with the values of `flat` (in the layout of m.parameters().flat()) instead of the model's own.
/// @param published  a generation_config.json that overrides the model's own settings, except alignment_heads
void save(const Model& m, const std::filesystem::path& directory, std::span<const float> flat,
          const nlohmann::json& published = nlohmann::json::object());
/// Writes only the files without weights: config.json and generation_config.json.
void save_configs(const Model& m, const std::filesystem::path& directory, const nlohmann::json& published);

}  // namespace tril::model
