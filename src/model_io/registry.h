// A model directory as Hugging Face lays it out: config.json says the family, model.safetensors (or its shards) has the
// weights. Wherever a directory is read, a GGUF file may stand in its place (gguf_weights.h).
#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "format/json_file.h"
#include "model/spec/model.h"

namespace tril::model {

/// The names of the families that there are ("marian", ...): what config.json may say as model_type, or, with
/// model_type "tril", as architecture.
std::vector<std::string> families();

/// A model by its config.json alone, weights neither allocated nor set.
std::unique_ptr<Model> make(const std::filesystem::path& config_json);
/// The same of what stands in one.
std::unique_ptr<Model> make(const JsonObject& config);

/// The same of a model directory or a GGUF file.
std::unique_ptr<Model> make_of(const std::filesystem::path& model);

/// The model of a directory or a GGUF file, its weights read. An Error names the first file, key or tensor that is missing or of
/// another size.
/// @param serving  how products are to be computed by a model that serves alone, which takes less memory; none: in
///                 float32, by one that can be trained and saved too
std::unique_ptr<Model> load(const std::filesystem::path& directory, std::optional<nn::Precision> serving = {});

/// Reads the weights of `directory` (or GGUF file) into a model that was made for it.
void load_weights(Model& m, const std::filesystem::path& directory);

/// Writes config.json, generation_config.json and model.safetensors, each whole or not at all.
void save(const Model& m, const std::filesystem::path& directory);
/// The same with the values of `flat` (laid out as m.parameters().flat()) in place of the model's own.
/// @param published  a generation_config.json that goes before what the model itself says, but for its alignment_heads
void save(const Model& m, const std::filesystem::path& directory, std::span<const float> flat,
          const nlohmann::json& published = nlohmann::json::object());
/// The two of these files that no weight is in: config.json and generation_config.json.
void save_configs(const Model& m, const std::filesystem::path& directory, const nlohmann::json& published);

}  // namespace tril::model
