// Converts CTranslate2's models to families of tril: the config to Hugging Face's keys, the weights to its names. Sizes and
// variants follow from attributes and from the weights that are present; queries, keys and values are fused.
// Source: CTranslate2's python/ctranslate2/specs and src/layers/transformer.cc.
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "format/json_file.h"
#include "model_io/ctranslate2/ctranslate2_reader.h"

namespace tril::model {

/// Ids of the special tokens of config.json. -1: there is no such token.
struct Ctranslate2Ids {
  std::int32_t bos = -1, eos = -1, pad = -1, decoder_start = -1;
};

struct Ctranslate2Model {
  nlohmann::json config;
  WeightFiles weights;
};

/// The eps of all norms. @param own  CTranslate2's config.json
double norm_eps_of(const JsonObject& own, double otherwise);
/// The name of an attribute's activation for config.json.
std::string activation_at(Ctranslate2Reader& r, const std::string& attribute);

/// TransformerSpec with LayerNorm: opennmt. Its vocabulary has one more row, the last: a zero embedding for padding. Marian's
/// translations begin with it.
/// @param ids  decoder_start -1: translations begin with the zero embedding
Ctranslate2Model read_ctranslate2_translation(Ctranslate2Reader& r, const JsonObject& own, const Ctranslate2Ids& ids);
/// TransformerSpec with a relative attention bias: t5, mt5 or umt5.
Ctranslate2Model read_ctranslate2_t5(Ctranslate2Reader& r, const JsonObject& own, const Ctranslate2Ids& ids);
/// TransformerDecoderSpec: llama, mistral, qwen2, qwen3, gemma, gpt2 or opt.
Ctranslate2Model read_ctranslate2_decoder(Ctranslate2Reader& r, const JsonObject& own, const Ctranslate2Ids& ids);

/// @throws Error for an unsupported specification or revision
void check_specification(const Ctranslate2File& file);

/// Reads a model of any of these specifications.
/// @throws Error naming an unknown specification, revision, attribute or weight
Ctranslate2Model read_ctranslate2(Ctranslate2Reader& r, const JsonObject& own, const Ctranslate2Ids& ids);

}  // namespace tril::model
