// Languages as options state them for a model of one pair: FROM:TO.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/fields.h"
#include "tokenizer/files/tokenizer.h"

namespace tril {

/// "en:de"; nothing if the text has another form. The languages themselves are not checked.
std::optional<StatedLanguages> language_pair_in(std::string_view text);

/// The languages that an option states for a model with an encoder whose vocabulary has no language tokens. For a model with
/// tags, it states only the source: "en:-".
/// @param has_encoder  of the model
/// @throws Error(usage) at `languages` if the text has another form, a language is not known, or the model does not need it
StatedLanguages stated_pair(const std::string& text, const Tokenizer& tokenizer, bool has_encoder);

/// The field `languages` for such a text.
void add_language_pair_field(Fields& f, std::string& languages);

}  // namespace tril
