// marian: MarianMT, the encoder-decoder of OPUS-MT and of `tril train`. Post-norm, concatenated sinusoids, embedding
// * sqrt(d), output tied to the decoder's embedding plus a bias for each word. Related to BART, but the vocabularies
// of the two sides may differ. Weight names, config.json and defaults are those of Hugging Face (MarianConfig,
// MarianMTModel).
#pragma once

#include "model/families/bart.h"

namespace tril::model {

using MarianConfig = BartConfig;

/// What absent keys of config.json mean.
MarianConfig marian_defaults();
/// Reads config.json as Hugging Face writes it, versions 4 and 5. @throws Error for an unsupported key that changes
/// results
MarianConfig marian_config(const JsonObject& config);

class Marian : public BartLike<nn::PostNormLayer> {
 public:
  explicit Marian(const MarianConfig& config);
  std::unique_ptr<Model> with(const BartConfig& config) const override { return std::make_unique<Marian>(config); }
};

/// Makes the model from config.json; weights are neither allocated nor set.
std::unique_ptr<Model> make_marian(const JsonObject& config);

}  // namespace tril::model
