// Names that are bytes, where UTF-8 is expected: in JSON, in the metadata of files.
#pragma once

#include <string>
#include <string_view>

namespace tril {

/// `text` with U+FFFD for each byte that belongs to no character, so that it shows how many bytes of a name are none. What a
/// model writes is another matter: there several bytes are the beginning of one character, and give one U+FFFD
/// (valid_utf8() in unicode/characters.h).
std::string as_utf8(std::string_view text);

}  // namespace tril
