// Characters and white space of UTF-8 texts; base/utf8.h tells whether a text is UTF-8.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/utf8.h"

namespace tril {

/// The number of characters (code points) of a valid text.
std::size_t characters_in(std::string_view text);

/// `text` without the white space (Unicode's White_Space, and U+001C to U+001F) at both its ends.
std::string_view trim(std::string_view text);

}  // namespace tril
