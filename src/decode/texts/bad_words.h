// Texts that must not be generated, as token sequences.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tokenizer/files/tokenizer.h"

namespace tril::search {

/// Adds the token sequences of `text` at the beginning of a text and after a space, unless they are in the list.
/// @param where  the name of the text in errors
/// @throws Error(usage) if the text has no token
void forbid(const std::string& text, const Tokenizer& tokenizer, const std::string& where,
            std::vector<std::vector<std::int32_t>>& bad_words);

}  // namespace tril::search
