// tekken.json, Mistral's own form of its tokenizers since NeMo: {"config": {"pattern", "default_vocab_size",
// "default_num_special_tokens", "version"}, "vocab": [{"rank", "token_bytes" (base64)}], "special_tokens": [{"rank",
// "token_str"}]}. Ids begin with the special tokens, those without a name being <SPECIAL_i>; then come the tokens by their
// ranks (rank_vocabulary.h), up to the total default_vocab_size. Source: Tekkenizer of `mistral_common`.
#pragma once

#include <string>
#include <string_view>

#include "tokenizer/files/pipeline_tokenizer.h"

namespace tril {

/// Whether a directory holds a tekken.json.
bool is_tekken_directory(const std::string& directory);

TokenizerDescription describe_tekken(const std::string& directory);

/// The parts that the file describes, including special tokens.
/// @throws Error naming `where` and the fault
TokenizerParts parse_tekken(std::string_view text, const std::string& where);

}  // namespace tril
