// Language tags of multilingual models: a tag before the source, ">>de<<", as in the OPUS-MT models [idea: Johnson et al.
// 2017], "<2de>", as in MADLAD-400, or, if the tokenizer has language tokens, these tokens around the sentence (sentence_frame.h).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/files/tokenizer.h"

namespace tril {

/// "de" or ">>de<<" -> ">>de<<". @throws Error(usage) for an invalid tag: empty, or with spaces, "<<" or ">>" inside
std::string language_tag(std::string_view name, const std::string& where);

/// The languages of all tags in a vocabulary, "de" for ">>de<<" or "<2de>", in the order of ids.
std::vector<std::string> tagged_languages(const Tokenizer& tokenizer);

/// The tag of the vocabulary at the start of a text, with a space: ">>de<< "; "" if there is none.
std::string leading_tag(const Tokenizer& tokenizer, std::string_view text);

/// The prefix of a text to be translated: ">>de<< " or "<2de> ", the vocabulary's own tag for a language in any form
/// (language/code.h). Nothing for "-": the text is passed on unchanged.
/// @throws Error(usage) if the vocabulary has no such tag; the error lists the tags
std::string language_prefix(const Tokenizer& tokenizer, std::string_view name, const std::string& where);

/// The languages of a translation, in the form that the model takes.
struct Languages {
  std::string prefix;          ///< before a text to be translated: from language_prefix(), or ""
  std::string source, target;  ///< codes of Tokenizer::languages(), or "" for the directory's default
};
/// @param source, target  as the user names them, in any form (language/code.h); "": not given
/// @throws Error(usage) naming a language that the model does not have, by `source_where` and `target_where`
Languages choose_languages(const Tokenizer& tokenizer, std::string_view source, std::string_view target,
                           const std::string& source_where, const std::string& target_where);

/// Whether a text is empty or only spaces.
bool is_blank(std::string_view text);
/// `text` after the prefix of language_prefix(); a blank text is unchanged.
std::string prepend_language_tag(const std::string& prefix, const std::string& text);

}  // namespace tril
