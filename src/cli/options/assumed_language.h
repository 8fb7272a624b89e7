// The languages of a text and its translation where no option says them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/spec/model.h"
#include "tokenizer/files/language_tag.h"
#include "tokenizer/files/tokenizer.h"

namespace tril::cli {

/// Warns where a model has tokens of languages and neither an option nor its directory says which one the text is in: the
/// tokenizer takes one all the same, as that of `transformers` does.
/// @param directory  of the model
void warn_of_assumed_language(const std::string& directory, const Tokenizer& tokenizer, const Languages& languages);

/// Where neither an option nor the directory says into which of several languages a model translates: nowhere, then, that it
/// happens on.
class TargetLanguage {
 public:
  /// @param said    --target-language
  /// @param forced  whether the directory forces a first token
  TargetLanguage(const model::Model& model, const Tokenizer& tokenizer, std::string_view said, bool forced);
  /// @throws Error(usage) for a model with tokens of languages
  void check_tokens() const;
  /// @throws Error(usage) naming `where` for one with tags, where the text begins with none
  void check_tag(std::string_view text, const std::string& where) const;

 private:
  const Tokenizer* tokenizer_;
  std::vector<std::string> tokens_, tags_;  // to choose from; none: it is settled
};

}  // namespace tril::cli
