// Writes a model as the Marian toolkit's own files: the inverse of marian_config.h, marian_weights.h and
// marian_tokenizer_files.h.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "model/spec/model.h"
#include "tokenizer/files/tokenizer.h"

namespace tril::model {

/// Writes to `path` the weights with special:model.yml, and beside it, beginning with its name:
///   .decoder.yml     how to decode, and the vocabularies that belong to the model
///   .vocab.spm       a SentencePiece model whose ids are the model's; of two vocabularies .source.spm and .target.spm
///   .vocab.yml       else the ids of its pieces (.source.yml and .target.yml), and source.spm and target.spm, which cut text before
///                    Marian reads it
/// @param m  in float32
/// @param generation  generation_config.json: num_beams, length_penalty
/// @throws Error(usage) for a model that Marian would compute differently
void export_marian(const Model& m, const Tokenizer& tokenizer, const nlohmann::json& generation,
                   const std::string& path);

}  // namespace tril::model
