// How a multilingual model is told its languages: by a tag in front of the source, ">>de<<", as in the OPUS-MT models [idea:
// Johnson et al. 2017], or, where the tokenizer has tokens of languages, by these in the sentences' frames
// (sentence_frame.h).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/files/tokenizer.h"

namespace tril {

/// "de" or ">>de<<" -> ">>de<<". @throws Error(usage) for what cannot be a tag: empty, with spaces, "<<" or ">>" inside
std::string language_tag(std::string_view name, const std::string& where);

/// The languages of every tag of a vocabulary, "de" of ">>de<<", in the order of ids.
std::vector<std::string> tagged_languages(const Tokenizer& tokenizer);

/// The tag of the vocabulary that a text begins with, with a space: ">>de<< "; "" where it begins with none.
std::string leading_tag(const Tokenizer& tokenizer, std::string_view text);

/// What stands in front of a text to be translated, with its space: ">>de<< "; nothing for "-", which leaves texts of a model
/// with tags as they stand.
/// @throws Error(usage) where the vocabulary has no such tag; it names those that it has
std::string language_prefix(const Tokenizer& tokenizer, std::string_view name, const std::string& where);

/// What a model is told.
struct Languages {
  std::string prefix;          ///< in front of a text to be translated: language_prefix()'s, or ""
  std::string source, target;  ///< codes of Tokenizer::languages(), or "" for what the directory says
};
/// @param source, target  as a person names them ("de", ">>de<<", "__de__"); "": unsaid
/// @throws Error(usage) naming what the model does not have, by `source_where` and `target_where`
Languages choose_languages(const Tokenizer& tokenizer, std::string_view source, std::string_view target,
                           const std::string& source_where, const std::string& target_where);

/// Whether nothing is asked of a text: it has spaces alone, or nothing.
bool is_blank(std::string_view text);
/// `text` behind language_prefix()'s; a blank one as it is.
std::string prepend_language_tag(const std::string& prefix, const std::string& text);

}  // namespace tril
