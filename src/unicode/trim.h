// Characters of texts in UTF-8, and what of them is white space; whether a text is UTF-8 says base/utf8.h.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/utf8.h"

namespace tril {

/// How many characters (code points) a valid text has.
std::size_t characters_in(std::string_view text);

/// `text` without the white space (Unicode's White_Space, and U+001C to U+001F) at both its ends.
std::string_view trim(std::string_view text);

}  // namespace tril
