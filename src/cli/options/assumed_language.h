// The source language that a model assumes if no option gives it.
#pragma once

#include <string>

#include "tokenizer/files/language_tag.h"
#include "tokenizer/files/tokenizer.h"

namespace tril::cli {

/// Warns if a model has language tokens, and neither an option nor its directory gives the language of the text: the
/// tokenizer then assumes one, like that of `transformers`.
/// @param directory  of the model, for the warning
void warn_of_assumed_language(const std::string& directory, const Tokenizer& tokenizer, const Languages& languages);

}  // namespace tril::cli
