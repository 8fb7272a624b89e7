// Whether a full stop ends a sentence.
#pragma once

#include <cstddef>

#include "unicode/sentence_line.h"
#include "unicode/sentence_words.h"

namespace tril {

/// Whether the sentence continues after the single full stop at `stop`: it belongs to an abbreviation, an initial, an
/// ordinal number or a numbered item.
/// @param next  the next character other than white space, which is no small letter
bool continues_after_stop(const SentenceLine& line, std::size_t stop, std::size_t next, const SentenceWords& words);

}  // namespace tril
