// Reads texts of XML files that are written to another place: sources of bilingual files, whose translations stand beside them.
#pragma once

#include <pugixml.hpp>

#include <string>
#include <vector>

#include "document/document.h"
#include "document/segment_builder.h"
#include "document/xml_places.h"

namespace tril::document {

/// The role of an element within a text in its translation.
struct XmlRole {
  enum Kind : std::uint8_t {
    pair,      ///< around words: <g>...</g>
    begins,    ///< the first of two elements that are a pair together: <bx/>; without the other it is a point
    ends,      ///< the second
    point,     ///< with everything in it
    fixed,     ///< with words that are not translated
    boundary,  ///< its text is a segment of its own
  } kind = point;
  std::string name = {};  ///< equal for the two elements of a pair
};
using XmlRoleOf = XmlRole (*)(const pugi::xml_node& element);

/// Reads the content of an element as segments.
/// @param keeps_space  line ends are text, as for xml:space="preserve"; else they are white space
std::vector<SlottedSegment> xml_segments(const TextDocument& document, const pugi::xml_node& element, XmlRoleOf role_of,
                                         bool keeps_space);

/// Where a copy of a content is written, with its segments translated.
struct XmlCopy {
  Range content;              ///< bytes of the original
  Range at;                   ///< bytes that the copy replaces
  std::string before, after;  ///< written around the copy
};
void add_copy(TextDocument& document, std::vector<SlottedSegment> segments, XmlCopy copy);

/// The text of an element without elements, comments and marks, as it is read.
std::string xml_text_of(const pugi::xml_node& element);

}  // namespace tril::document
