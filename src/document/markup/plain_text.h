// Plain text: each line is a segment, or the whole text is one. Weblate writes [X12X] for the placeholder at character 12 of a string
// before it asks a service for plain text, and expects it back: these are fixed words.
#pragma once

#include <memory>
#include <string>

#include "document/segments/document.h"

namespace tril::document {

enum class PlainSegments : std::uint8_t {
  lines,  ///< without the white space around them
  whole,  ///< with everything in it
  prose,  ///< as `whole`, but a translator reads line ends as spaces, and they are kept as Segment::breaks
};

std::unique_ptr<Document> read_plain_text(std::string text, PlainSegments segments = PlainSegments::lines);

}  // namespace tril::document
