// The bytes that each token adds to a text. decode() of a single token does not give them: it strips blanks from the
// start of a text, and shows part of a character as U+FFFD.
#pragma once

#include <string>
#include <vector>

#include "tokenizer/files/tokenizer.h"

namespace tril {

/// By id, the bytes that the token adds after others; empty for special tokens, and for ids without text.
std::vector<std::string> token_bytes(const Tokenizer& tokenizer, Side side = Side::target);

}  // namespace tril
