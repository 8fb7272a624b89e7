// Tags that tell a multilingual model the language to translate into: one token in front of the source, ">>de<<", as in
// the OPUS-MT models [idea: Johnson et al. 2017].
#pragma once

#include <string>
#include <string_view>

#include "text/tokenizer.h"

namespace tril {

/// "de" or ">>de<<" -> ">>de<<". @throws Error(usage) for what cannot be a tag: empty, with spaces, "<<" or ">>" inside
std::string language_tag(std::string_view name, const std::string& where);

/// What stands in front of a text to be translated, with its space: ">>de<< ".
/// @throws Error(usage) where the vocabulary has no such tag; it names those that it has
std::string language_prefix(const Tokenizer& tokenizer, std::string_view name, const std::string& where);

/// `text` behind language_prefix()'s; a blank one as it is, since of it nothing is asked.
std::string behind_prefix(const std::string& prefix, const std::string& text);

}  // namespace tril
