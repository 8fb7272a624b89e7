// Where the sentences and words of a translation are, as Microsoft's API gives it: in units of UTF-16.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "serve/api/request_fields.h"

namespace tril::serve {

/// The number of units of a text in UTF-8.
std::size_t utf16_units(std::string_view text);

/// {"srcSentLen": [...], "transSentLen": [...]}: the lengths of the sentences, each with the white space behind it.
/// @param places  of the text's sentences: `sentences` of the response of /translate (TranslateRequest::sentence_places)
Json sentence_lengths(const Json& places, std::string_view source, std::string_view translation);

/// {"proj": "0:2-0:3 ..."}: the first and the last unit of each word of the source, and of the word of the translation that it is
/// aligned with, in the order of the source.
Json word_alignment(const Json& places, std::string_view source, std::string_view translation);

}  // namespace tril::serve
