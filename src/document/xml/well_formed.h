// What XML forbids [XML 1.0; Namespaces in XML 1.0] and pugixml accepts. Other programs refuse such files, so tril does, too.
#pragma once

#include <pugixml.hpp>

#include <string>
#include <string_view>

namespace tril::document {

/// Checks the characters of a file: control characters are forbidden, as they are and as references.
/// @param bytes  UTF-8
/// @throws Error with the line
void check_xml_characters(std::string_view bytes, const std::string& where);

/// Checks what stands between two tags, or between the quotes of an attribute, as it is in the file: '&' begins the name of one of
/// XML's five entities, or the number of a character. @throws Error
void check_xml_references(std::string_view text, const std::string& where);

/// Checks an element's tag, parsed as XmlText::verbatim: each attribute occurs once, no value contains '<', and a name has at most
/// one colon, between two parts. @throws Error
void check_xml_tag(const pugi::xml_node& element, const std::string& where);

/// The advice for a file that is not well-formed.
inline constexpr const char* save_again = "open the file in the program that made it, and save it again";

}  // namespace tril::document
