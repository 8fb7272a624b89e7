// The bytes that each token adds to a text. decode() of a single token does not give them: it strips blanks from the
// start of a text, and shows part of a character as U+FFFD.
#pragma once

#include <string>
#include <vector>

#include "tokenizer/files/tokenizer.h"

namespace tril {

/// What single tokens add to a text. Thread-safe; the tokenizer must outlive it.
class TokenTexts {
 public:
  TokenTexts(const Tokenizer& tokenizer, Side side);
  /// The bytes that the token adds after others; empty for special tokens, and for ids without text.
  std::string of(std::int32_t id) const;

 private:
  const Tokenizer* tokenizer_;
  Side side_;
  std::int32_t anchor_;  // a token that shows what follows it; -1: there is none
  std::string before_;   // its text
};

/// By id, the bytes that the token adds after others; empty for special tokens, and for ids without text.
std::vector<std::string> token_bytes(const Tokenizer& tokenizer, Side side = Side::target);

}  // namespace tril
