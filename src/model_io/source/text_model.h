// The language model inside an image-text model: its config, and its weights without their prefix. Other parts are ignored.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "model_io/contents/model_reader.h"
#include "model_io/contents/weight_files.h"

namespace tril::model {

/// True if any of these weights has the prefix of a language model inside another model.
bool names_text_model(const WeightFiles& weights);
/// True if config.json is of such a model.
bool holds_text_model(const JsonObject& config);
using WeightNamesOf = std::function<std::vector<std::string>()>;

/// Its text_config. Special token ids and tie_word_embeddings of the whole model take precedence. Without the
/// latter, the names of the weights show whether the output is tied to the embedding.
ConfigDocument text_config(const ConfigDocument& whole, const WeightNamesOf& weight_names);
/// The language model's weights: "language_model.model.norm.weight" or "model.language_model.norm.weight" becomes
/// "model.norm.weight". @param config  of the whole model
WeightFiles text_weights(const std::shared_ptr<const WeightFiles>& whole, const JsonObject& config);

}  // namespace tril::model
