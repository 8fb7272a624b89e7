// Names that are bytes, where UTF-8 is expected: in JSON, in the metadata of files.
#pragma once

#include <string>
#include <string_view>

namespace tril {

/// `text` with U+FFFD for each byte that belongs to no character.
std::string as_utf8(std::string_view text);

}  // namespace tril
