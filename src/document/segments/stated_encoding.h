// The encoding that a text file states of itself. A translation is written in UTF-8, and must say so.
#pragma once

#include <cstdint>
#include <string>

namespace tril::document {

/// Where files of a format state their encoding.
enum class StatesEncoding : std::uint8_t {
  nowhere,
  xml,      ///< <?xml encoding="UTF-8"?>
  html,     ///< likewise, or <meta charset=utf-8>, or <meta content="text/html; charset=utf-8">
  gettext,  ///< "Content-Type: text/plain; charset=UTF-8\n"
  latex,    ///< \usepackage[utf8]{inputenc}
};

/// The bytes of a file that is UTF-8 (check_encoding()). If it states another encoding, it states UTF-8 afterwards: if it has only
/// ASCII, which is the same in both, or begins with UTF-8's byte order mark. @param where  names the file in errors
/// @throws Error for other characters: they may be meant in the stated encoding
std::string with_stated_utf8(std::string bytes, StatesEncoding how, const std::string& where);

}  // namespace tril::document
