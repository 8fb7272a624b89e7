// The tokenizer of a Marian model. A vocabulary is a SentencePiece model (*.spm) with its own ids, or a mapping of pieces to ids
// (*.yml), which OPUS-MT publishes together with the SentencePiece models source.spm and target.spm.
#pragma once

#include <memory>

#include "model_io/marian/marian_config.h"
#include "model_io/marian/marian_files.h"
#include "tokenizer/files/tokenizer.h"

namespace tril::model {

/// @param model_yml  has the number of pieces of each vocabulary
/// @throws Error naming the file that is missing or wrong
std::shared_ptr<const Tokenizer> load_marian_vocabularies(const MarianFiles& files, const JsonObject& model_yml);

}  // namespace tril::model
