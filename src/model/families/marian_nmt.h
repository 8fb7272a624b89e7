// marian_nmt: the Transformer of the Marian toolkit [Junczys-Dowmunt et al. 2018] as it computes it itself. `transformers` has it as
// MarianMT (marian.h), which takes other frequencies for positions and 1e-5 in norms where Marian has 1e-6, and knows no pre-norm.
//
//   positions  Tensor2Tensor's sinusoids from 0, all sines before all cosines
//   norms      LayerNorm, eps 1e-6; after each sublayer, or before each and one behind the last layer (normalize_before)
//
// config.json has marian's keys, normalize_before and add_final_layer_norm true for pre-norm. Its weights are called as marian's.
#pragma once

#include "model/families/bart.h"

namespace tril::model {

/// config.json -> the model, weights neither allocated nor set.
std::unique_ptr<Model> make_marian_nmt(const JsonObject& config);

}  // namespace tril::model
