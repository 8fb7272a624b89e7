// The model that training options describe, for the vocabulary that a tokenizer has.
#pragma once

#include <memory>

#include "model/families/bart.h"
#include "model/families/gpt2.h"
#include "model/families/t5.h"
#include "tokenizer/files/tokenizer.h"
#include "train/loop/options.h"

namespace tril::train {

/// Makes the matrices of layer l (from 1) of each stack begin smaller by sqrt(l) than they would
/// [DS-Init, Zhang et al. 2019, section 4.1, alpha = 1]. Before initialise().
void scale_by_depth(nn::Parameters& parameters);

/// The dropouts that training is to have.
void set_dropouts(model::BartConfig& config, const ModelOptions& options);
void set_dropouts(model::T5Config& config, const ModelOptions& options);
void set_dropouts(model::Gpt2Config& config, const ModelOptions& options);

/// Memory allocated, weights not set. @throws Error(usage) where the sizes do not fit
std::unique_ptr<model::Model> build_model(const ModelOptions& options, const Tokenizer& tokenizer);

}  // namespace tril::train
