// Converts tokenizer.json, the file of Hugging Face's `tokenizers` library, to tokenizer_parts.h and back.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/files/pipeline_tokenizer.h"

namespace tril {

/// The parts in a tokenizer.json. `where` names it in errors.
/// @throws Error for an invalid file, and naming an unsupported kind of part
TokenizerParts read_tokenizer_json(std::string_view json, const std::string& where);

/// A tokenizer.json from which read_tokenizer_json() makes the same parts.
/// @throws Error(usage) for parts that the format cannot express: a SentencePiece model
std::string tokenizer_json(const TokenizerParts& parts);

/// tokenizer.json and tokenizer_config.json; a SentencePiece model is written as by Hugging Face's converter
/// (merges_by_score.h).
std::vector<TokenizerFile> tokenizer_files(const TokenizerParts& parts, const TokenizerSettings& settings);

/// Whether `directory` holds a tokenizer.json.
bool is_tokenizer_json_directory(const std::string& directory);

/// Reads tokenizer.json and what tokenizer_config.h reads. add_bos_token and add_eos_token of the configuration count
/// only if the file has no post-processor, as in `transformers`.
TokenizerDescription describe_tokenizer_json(const std::string& directory);

}  // namespace tril
