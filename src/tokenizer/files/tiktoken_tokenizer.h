// Tokenizers in tiktoken's form: a file of ranks (rank_vocabulary.h) called NAME.tiktoken, tiktoken.model or, for some
// classes, tokenizer.model. Only the publisher's program defines how words are split. tril chooses the rule by the
// class that tokenizer_config.json or config.json names. Special tokens come from tokenizer_config.json.
#pragma once

#include <string>

#include "tokenizer/files/pipeline_tokenizer.h"

namespace tril {

/// Whether a directory holds a tokenizer of this form.
bool is_tiktoken_directory(const std::string& directory);

/// @throws Error naming the file and, for an unknown class, the known ones
TokenizerDescription describe_tiktoken(const std::string& directory);

}  // namespace tril
