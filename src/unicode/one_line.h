// A text on one line, such as a translation that is written among others.
#pragma once

#include <string>
#include <string_view>

namespace tril {

/// Line ends, with the white space around them, become blanks.
std::string one_line(std::string_view text);

}  // namespace tril
