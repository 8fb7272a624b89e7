// Translates CTranslate2's specifications to families here: the config to Hugging Face's keys, and the weights to its names. In a
// specification, attributes and the weights that are there give sizes and variants; queries, keys and values are fused.
// Source: CTranslate2's python/ctranslate2/specs and src/layers/transformer.cc.
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "format/json_file.h"
#include "model_io/ctranslate2_reader.h"

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
/// CTranslate2's name of an activation, as config.json has it.
std::string activation_at(Ctranslate2Reader& r, const std::string& attribute);

/// TransformerSpec with LayerNorm: opennmt. Its vocabulary has one more row, rows - 1: a zero embedding for padding, with which
/// Marian's translations begin.
/// @param ids  decoder_start -1: the zero embedding
Ctranslate2Model read_ctranslate2_translation(Ctranslate2Reader& r, const JsonObject& own, const Ctranslate2Ids& ids);
/// TransformerSpec with a relative attention bias: t5, mt5 or umt5.
Ctranslate2Model read_ctranslate2_t5(Ctranslate2Reader& r, const JsonObject& own, const Ctranslate2Ids& ids);
/// TransformerDecoderSpec: llama, mistral, qwen2, qwen3, gemma, gpt2 or opt.
Ctranslate2Model read_ctranslate2_decoder(Ctranslate2Reader& r, const JsonObject& own, const Ctranslate2Ids& ids);

/// @throws Error for a specification or a revision that is not read
void check_specification(const Ctranslate2File& file);

/// The family by the specification's name and parts.
/// @throws Error naming what is not known: a specification, a revision, an attribute, a weight
Ctranslate2Model read_ctranslate2(Ctranslate2Reader& r, const JsonObject& own, const Ctranslate2Ids& ids);

}  // namespace tril::model
