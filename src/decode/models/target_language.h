// The target language of a multilingual model, which must be given.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/spec/model.h"
#include "tokenizer/files/language_tag.h"
#include "tokenizer/files/tokenizer.h"

namespace tril {

/// Checks that an option, the directory or the text states the target language of a multilingual model, whose choice
/// would otherwise be arbitrary.
class TargetLanguage {
 public:
  /// @param language  the option target_language
  /// @param forced    whether the directory forces a first token
  TargetLanguage(const model::Model& model, const Tokenizer& tokenizer, std::string_view language, bool forced);
  /// @throws Error(usage) for a model with language tokens
  void check_tokens() const;
  /// @throws Error(usage) naming `where` for a model with tags, if the text begins with none
  void check_tag(std::string_view text, const std::string& where) const;

 private:
  const Tokenizer* tokenizer_;
  std::vector<std::string> tokens_, tags_;  // the choices; empty: the language is known
};

}  // namespace tril
