// Fine-tuning: a model that is there already, trained further on other data; all of it, named weights, or low-rank
// adapters beside frozen weights (nn/lora.h).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/spec/model.h"
#include "train/loop/options.h"

namespace tril::train {

/// What options say of the model's form, where there is a model to begin with: its sizes, and where nobody says otherwise
/// its kind and texts of no more than its positions.
void take_form(TrainOptions& options, const Fields& given);

/// The model of the directory that options.tune.init_from names, its dropouts those of the options, its weights
/// allocated and not yet set, what is not to be trained frozen, adapters added. @throws Error(usage) for a pattern that
/// matches nothing
std::unique_ptr<model::Model> build_tuned_model(const TrainOptions& options);

/// Freezes what the patterns do not train. A pattern (*, ?, [...]) is compared with the whole name of a weight and with
/// every end of it that begins behind a dot: "decoder.*" matches "model.decoder.layers.0.fc1.weight".
/// @throws Error(usage) for a pattern that matches nothing, and where nothing is left to train
void select_trained(nn::Parameters& parameters, const FineTuneOptions& tune);

/// Adapters for the linear layers whose name (without ".weight") matches one of tune.lora_targets; all else is frozen.
void add_adapters(nn::Parameters& parameters, const FineTuneOptions& tune);

/// Writes the model with its adapters merged, and the adapters alone to DIRECTORY/adapter as PEFT lays them out
/// (adapter_config.json, adapter_model.safetensors). Without adapters: the model. What generation_config.json of the model
/// it began with says of generating (a forced first token, a beam) stays.
void save_tuned(const model::Model& m, const std::string& directory, const FineTuneOptions& tune);

/// What save_tuned() writes and the directory lacks, or has empty: names of files, by whether weights are in them.
struct LostFiles {
  std::vector<std::string> weights, configs;
};
LostFiles lost_files(const std::string& directory, const FineTuneOptions& tune);

/// Writes the configurations that save_tuned() writes, and no weights.
void save_tuned_configs(const model::Model& m, const std::string& directory, const FineTuneOptions& tune);

}  // namespace tril::train
