// marian_nmt: the Transformer of the Marian toolkit [Junczys-Dowmunt et al. 2018] with the toolkit's own numbers. MarianMT of
// `transformers` (marian.h) has other position frequencies, 1e-5 instead of 1e-6 in norms, and no pre-norm.
//
//   positions  Tensor2Tensor's sinusoids from 0, all sines before all cosines
//   norms      LayerNorm, eps 1e-6; after each sublayer, or before each and after the last layer (normalize_before)
//   decoder    self-attention, or an SSRU instead of it (nn/ssru.h), as in the student models of Bergamot and Firefox
//
// config.json has marian's keys; pre-norm is normalize_before and add_final_layer_norm true, an SSRU is decoder_cell "ssru".
// Weights have marian's names; those of an SSRU are in layers.N.ssru and layers.N.ssru_layer_norm.
#pragma once

#include "model/families/bart.h"

namespace tril::model {

/// The choices of a model besides its sizes.
struct MarianNmtKind {
  bool pre_norm = false, ssru = false;
};

/// The model of a config, weights neither allocated nor set.
std::unique_ptr<Model> make_marian_nmt(const MarianNmtKind& kind, const BartConfig& config);
/// config.json -> the model, weights neither allocated nor set.
std::unique_ptr<Model> make_marian_nmt(const JsonObject& config);

}  // namespace tril::model
