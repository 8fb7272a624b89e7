// opennmt: OpenNMT's Transformer as CTranslate2 stores it (its TransformerSpec with LayerNorm): pre-norm or post-norm, with or
// without a norm of embeddings, and with a table of positions in the file, learned or computed [Klein et al. 2017].
//
//   positions  a table for each side, from row 0
//   norms      LayerNorm, eps 1e-5 or 1e-6 (layer_norm_eps); after each sublayer, or before each and after the last layer
//              (normalize_before); over embeddings plus positions (normalize_embedding)
//
// config.json has marian's other keys too. Weights have bart's names.
#pragma once

#include "model/families/bart.h"

namespace tril::model {

/// config.json -> the model, weights neither allocated nor set.
std::unique_ptr<Model> make_opennmt(const JsonObject& config);

}  // namespace tril::model
