// The options that split texts before they are translated.
#pragma once

#include <string>

#include "base/fields.h"
#include "decode/texts/split_translator.h"
#include "tokenizer/files/language_tag.h"

namespace tril {

struct SplitLineOptions {
  Split split = Split::none;
  std::string language;  ///< "": not given
};

void add_split_fields(Fields& f, SplitLineOptions& o);

/// @param languages  the source and target languages of the search
/// @param target     the target language as it was given
/// @param stated     those of the model
/// @throws Error(usage) if the option names no language
search::SplitOptions split_options(const SplitLineOptions& o, const Languages& languages, const std::string& target,
                                   const StatedLanguages& stated);

}  // namespace tril
