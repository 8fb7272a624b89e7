// The languages of a text and its translation if no option gives them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/spec/model.h"
#include "tokenizer/files/language_tag.h"
#include "tokenizer/files/tokenizer.h"

namespace tril::cli {

/// Warns if a model has language tokens, and neither an option nor its directory gives the language of the text: the
/// tokenizer then assumes one, like that of `transformers`.
/// @param directory  of the model, for the warning
void warn_of_assumed_language(const std::string& directory, const Tokenizer& tokenizer, const Languages& languages);

/// Checks that an option, the directory or the text gives the target language of a multilingual model, whose choice
/// would otherwise be arbitrary.
class TargetLanguage {
 public:
  /// @param said    --target-language
  /// @param forced  whether the directory forces a first token
  TargetLanguage(const model::Model& model, const Tokenizer& tokenizer, std::string_view said, bool forced);
  /// @throws Error(usage) for a model with language tokens
  void check_tokens() const;
  /// @throws Error(usage) naming `where` for a model with tags, if the text begins with none
  void check_tag(std::string_view text, const std::string& where) const;

 private:
  const Tokenizer* tokenizer_;
  std::vector<std::string> tokens_, tags_;  // the choices; empty: the language is known
};

}  // namespace tril::cli
