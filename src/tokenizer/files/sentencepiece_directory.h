// Hugging Face directories with a SentencePiece model and no tokenizer.json: T5, Pegasus, Llama, mBART, mBART-50,
// M2M100 and NLLB. The model splits text; each family numbers the pieces and adds tokens in its own way, by the rules
// of its Python tokenizer in `transformers` (4.x).
#pragma once

#include <string>

#include "tokenizer/files/pipeline_tokenizer.h"

namespace tril {

/// Whether `directory` holds spiece.model, sentencepiece.bpe.model or tokenizer.model.
bool is_sentencepiece_directory(const std::string& directory);

/// The family follows from tokenizer_class, or else from the file's name (spiece.model: T5, tokenizer.model: Llama).
TokenizerDescription describe_sentencepiece_directory(const std::string& directory);

/// A SentencePiece model outside a directory, as the tokenizer.model of a Llama directory.
TokenizerDescription describe_sentencepiece_model(const std::string& path);

}  // namespace tril
