// Fine-tuning: trains an existing model further on other data: all of it, selected weights, or, beside frozen weights, low-rank
// adapters (nn/lora.h) or Medusa heads (nn/medusa_heads.h).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/spec/model.h"
#include "model_io/source/model_source.h"
#include "train/loop/options.h"

namespace tril::train {

/// The initial model, `init_from`, opened once for the whole run; none if the model is new.
using InitialModel = std::optional<model::ModelSource>;
InitialModel open_initial_model(const FineTuneOptions& tune);

/// Takes the options for the model's form from the initial model, if there is one: its sizes and, unless given, its
/// kind and a text length within its positions.
void take_form(TrainOptions& options, const Fields& given, const InitialModel& initial);

/// The initial model with the dropouts of the options. Weights are allocated but not set, untrained weights are frozen,
/// adapters or heads are added. @throws Error(usage) for a pattern without a match
std::unique_ptr<model::Model> build_tuned_model(const TrainOptions& options, const model::ModelSource& initial);

/// Freezes what the patterns do not select. A pattern (*, ?, [...]) is compared with the whole name of a weight and
/// with every suffix after a dot: "decoder.*" matches "model.decoder.layers.0.fc1.weight".
/// @throws Error(usage) for a pattern without a match, or if nothing is left to train
void select_trained(nn::Parameters& parameters, const FineTuneOptions& tune);

/// Adds adapters to the linear layers whose name (without ".weight") matches one of tune.lora_targets; freezes all else.
void add_adapters(nn::Parameters& parameters, const FineTuneOptions& tune);

/// Sets the weights of the initial model; heads begin as its output layer.
void load_initial_weights(model::Model& m, const model::ModelSource& initial);

/// Writes the model with its adapters merged, and the adapters alone to DIRECTORY/adapter in PEFT's layout
/// (adapter_config.json, adapter_model.safetensors). Without adapters: only the model. Of a model with heads: only
/// these, in the published form (model_io/adapters/medusa_files.h). Generation settings of the
/// initial model's generation_config.json (a forced first token, a beam) are kept.
void save_tuned(const model::Model& m, const std::string& directory, const FineTuneOptions& tune,
                const InitialModel& initial);

/// The names of the files of save_tuned() that are missing or empty.
struct LostFiles {
  std::vector<std::string> weights, configs;
};
LostFiles lost_files(const std::string& directory, const FineTuneOptions& tune);

/// Writes only the configurations of save_tuned(), without weights.
void save_tuned_configs(const model::Model& m, const std::string& directory, const FineTuneOptions& tune,
                        const InitialModel& initial);

}  // namespace tril::train
