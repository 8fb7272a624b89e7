// What each token adds to a text, as bytes. decode() cannot say it of one token: it strips blanks from a text's beginning,
// and shows bytes that are only a part of a character as U+FFFD.
#pragma once

#include <string>
#include <vector>

#include "tokenizer/files/tokenizer.h"

namespace tril {

/// By id, the bytes that the token adds behind others; none for special tokens, and for ids that have no text.
std::vector<std::string> token_bytes(const Tokenizer& tokenizer, Side side = Side::target);

}  // namespace tril
