// How a file in a package names another one: by a reference relative to its own directory [RFC 3986].
#pragma once

#include <string>
#include <string_view>

namespace tril::document {

/// "OEBPS/" and "../Text/a%20b.xhtml#top" -> "Text/a b.xhtml"; a reference that begins with '/' starts at the package's root.
/// @param directory  of the file with the reference: "" or a path
std::string member_path(std::string_view directory, std::string_view reference);

/// "OEBPS/b.opf" -> "OEBPS"; "b.opf" -> ""
std::string_view directory_of(std::string_view path);

}  // namespace tril::document
