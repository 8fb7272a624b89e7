// The model that training options describe, for the vocabulary that a tokenizer has.
#pragma once

#include <memory>

#include "model/model.h"
#include "text/tokenizer.h"
#include "train/options.h"

namespace tril::train {

/// Memory allocated, weights not set. @throws Error(usage) where the sizes do not fit
std::unique_ptr<model::Model> build_model(const ModelOptions& options, const Tokenizer& tokenizer);

}  // namespace tril::train
