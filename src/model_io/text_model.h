// The language model inside a model of pictures and text: its own config, and its weights without the name that stands
// before them. The other parts are left alone.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "model_io/model_reader.h"
#include "model_io/weight_files.h"

namespace tril::model {

/// Whether any of these weights is named as one of a language model inside another.
bool names_text_model(const WeightFiles& weights);
/// Whether a config.json is of such a model.
bool holds_text_model(const JsonObject& config);
using WeightNamesOf = std::function<std::vector<std::string>()>;

/// Its text_config. The ids of special tokens are those of the whole model where it says them; so is whether the output
/// is tied to the embedding, or else the weights say it.
ConfigDocument text_config(const ConfigDocument& whole, const WeightNamesOf& weight_names);
/// The language model's weights: "language_model.model.norm.weight" or "model.language_model.norm.weight" becomes
/// "model.norm.weight".
WeightFiles text_weights(std::shared_ptr<const WeightFiles> whole);

}  // namespace tril::model
