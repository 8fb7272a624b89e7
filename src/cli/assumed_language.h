// The language that a text is taken to be in where nobody says.
#pragma once

#include <string>

#include "text/language_tag.h"
#include "text/tokenizer.h"

namespace tril::cli {

/// Warns where a model has tokens of languages and neither an option nor its directory says which one the text is in: the
/// tokenizer takes one all the same, as that of `transformers` does.
/// @param directory  of the model
void warn_of_assumed_language(const std::string& directory, const Tokenizer& tokenizer, const Languages& languages);

}  // namespace tril::cli
