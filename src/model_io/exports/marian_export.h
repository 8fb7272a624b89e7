// Writes a model in the Marian toolkit's format: the inverse of marian_config.h, marian_weights.h and
// marian_tokenizer_files.h.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "model/spec/model.h"
#include "tokenizer/files/tokenizer.h"

namespace tril::model {

/// Writes the weights with special:model.yml to `path`, and next to it files whose names begin with it:
///   .decoder.yml  decoding options, and the names of the vocabularies
///   .vocab.spm    a SentencePiece model with the model's ids; two vocabularies: .source.spm and .target.spm
///   .vocab.yml    if the ids differ from the SentencePiece model's: the ids of its pieces (.source.yml and .target.yml), and
///                 .source.spm and .target.spm, which split text before Marian reads it
/// @param m  in float32
/// @param generation  generation_config.json: num_beams, length_penalty
/// @throws Error(usage) for a model for which Marian would compute other results: another family, unsupported options, a
///   padding row that is not zero
void export_marian(const Model& m, const Tokenizer& tokenizer, const nlohmann::json& generation,
                   const std::string& path);

}  // namespace tril::model
