// Divides the content of an XML paragraph into segments with marks, and the parts between them.
//
// Adjacent runs of text with the same properties are joined. The properties that most text of a segment has are its
// context and no mark; text with other properties is a pair.
#pragma once

#include <string>
#include <vector>

#include "document/xml/xml_part.h"

namespace tril::document {

/// A part of a paragraph, in the order of the file.
struct Inline {
  enum Kind : std::uint8_t {
    text,
    line_break,  ///< read as white space by a translator; put back at the same relative position of the text
    point,       ///< between words: a footnote's reference, a picture
    fixed,       ///< words that stay: the result of a field
    open,        ///< the tags of a pair: a hyperlink; properly nested
    close,
    boundary  ///< ends the segment: a tab, a page break. Pairs around it are not marks
  };
  Kind kind = text;
  Range raw = {};              ///< its bytes in the file; text has none
  bool within_run = false;     ///< `raw` has to stand in a run of these properties
  std::size_t properties = 0;  ///< in Paragraph::properties
  std::string words =
      {};  ///< of text and fixed words, unescaped; of a boundary: text that stands for it instead of `raw`
  std::size_t begin = 0;  ///< of a point that ends a range: the number + 1 of the one that begins it; 0: none
};

/// Adds the paragraph if it has anything to translate.
/// @param paragraph  its place, names and properties; `glue` is empty
void add_paragraph(XmlPart& part, Paragraph paragraph, std::vector<Inline> inlines);

}  // namespace tril::document
