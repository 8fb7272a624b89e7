// The families that there are, and a model of one: made of a configuration, read from a ModelSource, written as a directory as
// Hugging Face lays it out.
#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "format/json_file.h"
#include "model/spec/model.h"
#include "model_io/model_source.h"

namespace tril::model {

/// The names of the families that there are ("marian", ...): what config.json may say as model_type, or, with
/// model_type "tril", as architecture.
std::vector<std::string> families();

/// The model that a config.json describes, weights neither allocated nor set.
std::unique_ptr<Model> make(const JsonObject& config);
/// The same of a published model, whose weights are asked where config.json does not say all of it.
std::unique_ptr<Model> make(const ModelSource& source);

/// A published model, its weights read. An Error names the first file, key or tensor that is missing or of another size.
/// @param serving  how products are to be computed by a model that serves alone, which takes less memory; none: in
///                 float32, by one that can be trained and saved too
std::unique_ptr<Model> load(const ModelSource& source, std::optional<nn::Precision> serving = {});

/// Reads the weights of `source` into a model that was made for it.
void load_weights(Model& m, const ModelSource& source);

/// Writes config.json, generation_config.json and model.safetensors, each whole or not at all.
void save(const Model& m, const std::filesystem::path& directory);
/// The same with the values of `flat` (laid out as m.parameters().flat()) in place of the model's own.
/// @param published  a generation_config.json that goes before what the model itself says, but for its alignment_heads
void save(const Model& m, const std::filesystem::path& directory, std::span<const float> flat,
          const nlohmann::json& published = nlohmann::json::object());
/// The two of these files that no weight is in: config.json and generation_config.json.
void save_configs(const Model& m, const std::filesystem::path& directory, const nlohmann::json& published);

}  // namespace tril::model
