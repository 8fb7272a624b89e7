// Tokenizers in tiktoken's form: a file of ranks (rank_vocabulary.h), NAME.tiktoken, tiktoken.model or, of classes that
// use this form, tokenizer.model. How words are split is in the publisher's program; it is known here by the class that
// tokenizer_config.json or config.json names. Special tokens come from tokenizer_config.json.
#pragma once

#include <string>

#include "tokenizer/files/pipeline_tokenizer.h"

namespace tril {

/// Whether a directory holds a tokenizer of this form.
bool is_tiktoken_directory(const std::string& directory);

/// @throws Error naming the file and, of an unknown class, those that are known
TokenizerDescription describe_tiktoken(const std::string& directory);

}  // namespace tril
