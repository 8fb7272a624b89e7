// Where the nodes of an XML file stand in its bytes, so that a part of the file can be replaced and all else stays.
#pragma once

#include <pugixml.hpp>

#include <string>
#include <string_view>

#include "document/segments/segment.h"

namespace tril::document {

class XmlPlaces {
 public:
  /// @param bytes  what parse_xml() read the nodes from, with XmlText::verbatim; must outlive the object
  explicit XmlPlaces(std::string_view bytes) : bytes_(bytes) {}

  /// "<a x='1'>" or "<a/>" of an element.
  Range open_tag(const pugi::xml_node& element) const;
  /// Between the tags of an element; empty, behind its tag, for "<a/>".
  Range content(const pugi::xml_node& element) const;
  /// All bytes of an element, text, CDATA section, comment or processing instruction.
  Range whole(const pugi::xml_node& node) const;

  /// The value of an attribute in a tag, between its quotes; empty if there is none.
  Range attribute_value(Range tag, std::string_view name) const;

  std::string_view text(Range at) const { return bytes_.substr(at.begin, at.size()); }

 private:
  bool is_alone(Range tag) const { return bytes_[tag.end - 2] == '/'; }

  std::string_view bytes_;
};

/// A tag with one more attribute, or with another value of it. @param tag  "<a x='1'>" or "<a/>"
std::string with_attribute(std::string_view tag, std::string_view name, std::string_view value);
/// A tag without an attribute and the white space before it.
std::string without_attribute(std::string_view tag, std::string_view name);
/// A value in double quotes, for an attribute.
std::string attribute_escaped(std::string_view value);
/// "<a/>" -> "<a>"
std::string opening(std::string_view tag);
/// The prefix of a qualified name: "mt:" of "mt:name", "" of "name".
std::string_view prefix_of(std::string_view qualified_name);
/// The text of a node if it is white space; else "".
std::string white_space(const pugi::xml_node& node);
/// The line end and the white space before an element.
inline std::string indentation_of(const pugi::xml_node& element) {
  return white_space(element.previous_sibling());
}
/// The attribute of the innermost element, the node itself first, that has it; "" if none has.
std::string inherited_attribute(pugi::xml_node node, const char* name);

}  // namespace tril::document
