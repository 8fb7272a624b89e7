// The sentences of a segment, which are translated one by one, and the segment of their translations.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "document/links.h"
#include "document/segment.h"

namespace tril::document {

/// How the text of a segment is split before it is translated.
enum class Split : std::uint8_t { whole, sentences };

/// The parts of a segment's text to translate, without white space around them. No part ends within fixed words.
std::vector<Range> sentences_of(const Segment& segment, Split split);

/// A sentence as a model reads it: on one line if the segment keeps its line breaks apart.
std::string sentence_text(const Segment& segment, Range sentence);

/// The segment of translations: white space between sentences is that of the source, marks are placed (place_marks.h), and line
/// breaks within a sentence replace blanks at the same share of its text. Links count bytes of the sentences.
/// @param sentences  sentences_of() the source; one translation for each
Segment joined(const Segment& source, std::span<const Range> sentences, std::span<const Translated> translations);

}  // namespace tril::document
