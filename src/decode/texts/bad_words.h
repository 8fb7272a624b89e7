// Texts that never come, as the sequences of tokens that they may be cut into.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tokenizer/files/tokenizer.h"

namespace tril::search {

/// Adds the text's tokens at the beginning of a text and after a space; those that are there stay.
/// @param where  how errors call it
/// @throws Error(usage) where the text has no token
void forbid(const std::string& text, const Tokenizer& tokenizer, const std::string& where,
            std::vector<std::vector<std::int32_t>>& bad_words);

}  // namespace tril::search
