// Sets the weights of a model from those of its files, on several threads.
#pragma once

#include <span>

#include "model_io/contents/stored_weight.h"
#include "model_io/contents/weight_files.h"
#include "nn/parameters.h"

namespace tril::model {

/// A weight of the model, and where its values are.
struct WeightToSet {
  nn::Parameter* parameter;
  StoredWeight stored;
};

/// Converts and sets the weights on `threads` threads, at least 1. Weights that are not set as they are stored take memory for their
/// values in float32 meanwhile: together at most 1 GiB, or one larger weight. If several weights are wrong, the error is that of the
/// first.
void set_weights(nn::Parameters& parameters, std::span<const WeightToSet> weights, const WeightFiles& files,
                 int threads);

}  // namespace tril::model
