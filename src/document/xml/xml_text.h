// Reads texts of XML files. A translation replaces its text, or is written to another place, as in bilingual files.
#pragma once

#include <pugixml.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "document/markup/html_reader.h"
#include "document/segments/document.h"
#include "document/segments/segment_builder.h"
#include "document/xml/xml_places.h"

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

/// Adds the text at some bytes of the file to a segment.
using AddWords = std::function<void(SegmentBuilder& builder, std::string_view bytes, Range at)>;
/// Text with references of XML.
void add_xml_words(SegmentBuilder& builder, std::string_view bytes, Range at);

/// How a format writes texts.
struct XmlTextStyle {
  XmlRoleOf role_of;
  bool keeps_space = false;  ///< line ends are text, as for xml:space="preserve"; else they are white space
  AddWords words = &add_xml_words;
  Escape escape = &escape_markup;
  /// Of a CDATA section, which then is a segment of its own. Empty: a section is a piece of the text around it
  AddWords cdata_words = {};
  Escape cdata_escape = nullptr;
};

/// Reads the content of an element as segments.
std::vector<SlottedSegment> xml_segments(const TextDocument& document, const pugi::xml_node& element,
                                         const XmlTextStyle& style);

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
