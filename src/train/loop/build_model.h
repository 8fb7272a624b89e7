// Builds the model that training options describe, for a tokenizer's vocabulary.
#pragma once

#include <memory>

#include "model/families/bart.h"
#include "model/families/gpt2.h"
#include "model/families/t5.h"
#include "tokenizer/files/tokenizer.h"
#include "train/loop/options.h"

namespace tril::train {

/// Sets the dropouts for training.
void set_dropouts(model::BartConfig& config, const ModelOptions& options);
void set_dropouts(model::T5Config& config, const ModelOptions& options);
void set_dropouts(model::Gpt2Config& config, const ModelOptions& options);

/// The model with memory allocated and weights not set. @throws Error(usage) for inconsistent sizes
std::unique_ptr<model::Model> build_model(const ModelOptions& options, const Tokenizer& tokenizer);

}  // namespace tril::train
