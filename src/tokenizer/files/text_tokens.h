// Splits a text into tokens with their positions in it, and joins tokens into a text: for `tril tokenize`, `tril detokenize` and
// the server's routes of these names.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/files/token_bytes.h"
#include "tokenizer/files/tokenizer.h"

namespace tril {

/// [begin, end) in a text; -1: the token corresponds to nothing in it.
struct TokenPlace {
  std::int64_t begin = -1, end = -1;
};

struct TextTokens {
  std::vector<std::int32_t> ids;
  std::vector<std::string> pieces;
  /// Where the tokens are, in bytes and in characters (code points). If a token covers a part of a character, its
  /// characters include that one. The tokenizer may change the text first (letter case, normal form, unknown characters).
  /// Then all tokens of a changed part have the range of that part, from one unchanged neighbour to the other.
  std::vector<TokenPlace> bytes, characters;
};

/// Splits texts into tokens and joins them. Thread-safe; the tokenizer must outlive it.
class TextTokenizer {
 public:
  TextTokenizer(const Tokenizer& tokenizer, Side side) : tokenizer_(&tokenizer), side_(side), texts_(tokenizer, side) {}

  /// @param special   with the special tokens that a model expects around a text (Tokenizer::frame())
  /// @param language  of these
  TextTokens tokens_of(std::string_view text, bool special = false, std::string_view language = {}) const;
  /// @param special  with the text of special tokens, which are otherwise left out
  /// @throws Error(usage) for an id that is not in the vocabulary
  std::string text_of(std::span<const std::int32_t> ids, bool special = false) const;

 private:
  std::vector<TokenPlace> places(std::string_view text, std::span<const std::int32_t> ids) const;
  bool is_special(std::int32_t id) const;

  const Tokenizer* tokenizer_;
  Side side_;
  TokenTexts texts_;
};

/// {"ids": [...], "pieces": [...], "bytes": [[0, 3], ...], "characters": [[0, 3], ...]}; null: no place.
nlohmann::ordered_json json_of(const TextTokens& tokens);

}  // namespace tril
