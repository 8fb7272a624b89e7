// marian: MarianMT, the encoder-decoder of OPUS-MT and of what `tril train` makes. Post-norm, concatenated sinusoids,
// embedding * sqrt(d), output tied to the decoder's embedding plus a bias for each word. Of the kin of BART, with
// vocabularies that may differ between the sides. Weight names, config.json and defaults as Hugging Face has them
// (MarianConfig, MarianMTModel).
#pragma once

#include "model/families/bart.h"

namespace tril::model {

using MarianConfig = BartConfig;

/// config.json as Hugging Face writes it, of version 4 or 5. A key that changes results and is not supported is an
/// Error.
MarianConfig marian_config(const JsonObject& config);

class Marian : public BartLike<nn::PostNormLayer> {
 public:
  explicit Marian(const MarianConfig& config);
  std::unique_ptr<Model> with(const BartConfig& config) const override { return std::make_unique<Marian>(config); }
};

/// config.json -> the model, weights neither allocated nor set.
std::unique_ptr<Model> make_marian(const JsonObject& config);

}  // namespace tril::model
