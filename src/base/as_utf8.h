// Converts names, which may be any bytes, to UTF-8 for JSON and file metadata.
#pragma once

#include <string>
#include <string_view>

namespace tril {

/// Returns `text` with U+FFFD in place of each invalid byte, so that the number of invalid bytes stays visible.
/// Text that a model generates is treated differently: there several bytes that begin one character become one
/// U+FFFD (valid_utf8() in unicode/characters.h).
std::string as_utf8(std::string_view text);

}  // namespace tril
