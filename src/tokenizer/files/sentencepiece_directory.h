// Directories of Hugging Face that hold a SentencePiece model and no tokenizer.json: T5, Pegasus, Llama, mBART, mBART-50,
// M2M100 and NLLB. The model cuts text as it is; each family numbers the pieces in its own way, and adds tokens. The rules
// are those of the tokenizers in Python that `transformers` had for them (4.x).
#pragma once

#include <string>

#include "tokenizer/files/pipeline_tokenizer.h"

namespace tril {

/// Whether `directory` holds spiece.model, sentencepiece.bpe.model or tokenizer.model.
bool is_sentencepiece_directory(const std::string& directory);

/// The family is that of tokenizer_class; without one, that of the file's name where it says so (spiece.model: T5,
/// tokenizer.model: Llama).
TokenizerDescription describe_sentencepiece_directory(const std::string& directory);

}  // namespace tril
