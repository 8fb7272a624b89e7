// XML files, parsed by pugixml within limits. Nothing outside of the file is read, and entities that the file declares are refused,
// so that a short file cannot expand into a long one.
#pragma once

#include <pugixml.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace tril {

/// Elements that are nested deeper than this are an error.
inline constexpr std::size_t most_nested_elements = 1000;
/// Maximum number of tags and attributes, counted as '<' and '=': more would take gigabytes of memory.
inline constexpr std::size_t most_xml_parts = 8'000'000;

/// How the text of an XML file is read. Both keep comments, processing instructions, CDATA sections and white space.
enum class XmlText {
  unescaped,  ///< character references and line ends become their characters
  verbatim,   ///< bytes of the file; offset_debug() of a node is the position of its content in the file
};

/// Parses a file.
/// @param bytes  UTF-8, or for `unescaped` UTF-16 or UTF-32 with a byte order mark, too
/// @param where  the file's name in errors
/// @throws Error with the line and column if the file is not well-formed, is nested too deeply or declares entities; Error if it has
/// more than most_xml_parts
pugi::xml_document parse_xml(std::string_view bytes, const std::string& where, XmlText text = XmlText::unescaped);

/// The first child element of this local name; null if there is none.
pugi::xml_node child_element(const pugi::xml_node& parent, std::string_view name);
/// "mt:name" -> "name". The prefixes of XML names are chosen by each file.
std::string_view local_name(std::string_view qualified_name);

}  // namespace tril
