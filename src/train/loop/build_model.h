// Builds the model that training options describe, for a tokenizer's vocabulary.
#pragma once

#include <cstdint>
#include <memory>

#include "model/spec/model.h"
#include "tokenizer/files/tokenizer.h"
#include "train/loop/options.h"

namespace tril::train {

/// The model with the options that its config.json does not say: dropouts of single places, skipped layers, initialisation by
/// depth. Models of other families than BART's, T5's and GPT-2's are returned as they are. Its weights are lost.
std::unique_ptr<model::Model> with_training_options(std::unique_ptr<model::Model> m, const ModelOptions& options);

/// Checks options before a vocabulary is learned: those of build_model() with a vocabulary of `pieces`.
/// @throws Error(usage) for inconsistent sizes, or keys that the family lacks
void check_model_options(const ModelOptions& options, std::int64_t pieces, bool separate);

/// The model with memory allocated and weights not set. @throws Error(usage) for inconsistent sizes
std::unique_ptr<model::Model> build_model(const ModelOptions& options, const Tokenizer& tokenizer);

}  // namespace tril::train
