// tokenizer.json, the file of Hugging Face's `tokenizers` library, to tokenizer_parts.h and back.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/files/pipeline_tokenizer.h"

namespace tril {

/// The parts that a tokenizer.json describes. `where` names it in errors.
/// @throws Error for what is no such file, and for a kind of part that is not supported, by its name
TokenizerParts read_tokenizer_json(std::string_view json, const std::string& where);

/// The text of a tokenizer.json from which read_tokenizer_json() makes the same parts.
/// @throws Error(usage) for parts that the format cannot say: a SentencePiece model
std::string tokenizer_json(const TokenizerParts& parts);

/// tokenizer.json and tokenizer_config.json; a SentencePiece model as Hugging Face's converter has it (merges_by_score.h).
std::vector<TokenizerFile> tokenizer_files(const TokenizerParts& parts, const TokenizerSettings& settings);

/// Whether `directory` holds a tokenizer.json.
bool is_tokenizer_json_directory(const std::string& directory);

/// Reads tokenizer.json and what tokenizer_config.h reads. The post-processor is the file's, unless the configuration has
/// add_bos_token or add_eos_token: then these alone say what stands around a text, as in `transformers`.
TokenizerDescription describe_tokenizer_json(const std::string& directory);

}  // namespace tril
