// Joins pieces into text: the decoders of tokenizer_parts.h, one after the other.
#pragma once

#include <string>
#include <vector>

#include "tokenizer/pipeline/regex.h"
#include "tokenizer/pipeline/tokenizer_parts.h"

namespace tril {

class PieceDecoder {
 public:
  /// @throws Error naming `where` for an invalid step: a wrong expression
  PieceDecoder(const std::vector<DecoderStep>& steps, const std::string& where);

  /// The text of `pieces`. Without any steps: the pieces with spaces between them.
  /// @throws Error if it would be far longer than the pieces (growth.h)
  std::string decode(std::vector<std::string> pieces) const;

 private:
  std::vector<DecoderStep> steps_;
  std::vector<Regex> regexes_;
  std::vector<std::size_t> regex_of_;  ///< by step, and after the last: the expressions before its own, if it has one
  std::string where_;
};

/// The byte of a piece like "<0xE2>"; -1 for any other piece.
int byte_of_piece(std::string_view piece);

/// Hugging Face's clean_up_tokenization_spaces: removes, for example, the space before a full stop.
void clean_up_spaces(std::string& text);

/// Replaces every `from`, which must not be empty, from left to right.
void replace_all(std::string& text, std::string_view from, std::string_view to);

}  // namespace tril
