// Formats a number with width, precision and sign, as Python's format() does.
#pragma once

#include <string>
#include <string_view>

#include "chat/template_arguments.h"

namespace tril::chat {

/// What follows the colon in "{:>10.2f}", or the % in "%-10.2f".
struct FormatSpec {
  std::string fill = " ";
  char align = '\0';  ///< < > ^ =; default: numbers right, others left
  char sign = '\0';   ///< + and blank: written before a non-negative number
  bool alternate = false, zeros = false;
  char grouping = '\0';  ///< , or _ as thousands separator
  std::int64_t width = 0, precision = -1;
  char type = '\0';
};

/// The digits of a number, after its sign. @param value  an integer or a float
std::string number_text(const Value& value, const FormatSpec& spec);
/// Pads to the width. @param sign_length  bytes before which no zeros are inserted
std::string aligned(std::string_view text, const FormatSpec& spec, std::size_t sign_length, Budget& budget);

}  // namespace tril::chat
