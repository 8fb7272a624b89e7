// The sentences of a segment, which are translated one by one, and the segment of their translations.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "document/segments/links.h"
#include "document/segments/segment.h"
#include "unicode/segments.h"

namespace tril::document {

/// The parts of a segment's text to translate, as segments_of() splits it (unicode/segments.h), without the white space between
/// them. No part ends within fixed words. Line ends split only a text that keeps them (Segment::breaks).
std::vector<Range> sentences_of(const Segment& segment, const SegmentOptions& options);

/// A sentence as a model reads it: on one line if the segment keeps its line breaks apart.
std::string sentence_text(const Segment& segment, Range sentence);

/// The segment of translations: white space between sentences is that of the source, as the target language writes it
/// (gap_between_translations()), marks are placed (place_marks.h), and line breaks within a sentence replace spaces at
/// the same relative position of its text. Links count bytes of the sentences.
/// @param sentences  sentences_of() the source; one translation for each
/// @param language   of the translations, as for has_spaces_between_sentences()
Segment joined(const Segment& source, std::span<const Range> sentences, std::span<const Translated> translations,
               std::string_view language);

}  // namespace tril::document
