// marian_nmt: the Transformer of the Marian toolkit [Junczys-Dowmunt et al. 2018] as it computes it itself. `transformers` has it as
// MarianMT (marian.h), which takes other frequencies for positions and 1e-5 in norms where Marian has 1e-6, and knows no pre-norm.
//
//   positions  Tensor2Tensor's sinusoids from 0, all sines before all cosines
//   norms      LayerNorm, eps 1e-6; after each sublayer, or before each and one behind the last layer (normalize_before)
//   decoder    self-attention, or an SSRU in its place (nn/ssru.h), as in the students of Bergamot and Firefox
//
// config.json has marian's keys, normalize_before and add_final_layer_norm true for pre-norm, decoder_cell "ssru". Its weights are
// called as marian's; the SSRU's are in layers.N.ssru and layers.N.ssru_layer_norm.
#pragma once

#include "model/families/bart.h"

namespace tril::model {

/// What of it is not a size.
struct MarianNmtKind {
  bool pre_norm = false, ssru = false;
};

/// The model of a config, weights neither allocated nor set.
std::unique_ptr<Model> make_marian_nmt(const MarianNmtKind& kind, const BartConfig& config);
/// config.json -> the model, weights neither allocated nor set.
std::unique_ptr<Model> make_marian_nmt(const JsonObject& config);

}  // namespace tril::model
