// A number with a width, a precision and signs, as Python's format() writes it.
#pragma once

#include <string>
#include <string_view>

#include "chat/template_arguments.h"

namespace tril::chat {

/// What stands behind the colon of "{:>10.2f}", or behind the % of "%-10.2f".
struct FormatSpec {
  std::string fill = " ";
  char align = '\0';  ///< < > ^ =; none: numbers to the right, others to the left
  char sign = '\0';   ///< + and blank: in front of what is not negative
  bool alternate = false, zeros = false;
  char grouping = '\0';  ///< , or _ between thousands
  std::int64_t width = 0, precision = -1;
  char type = '\0';
};

/// Digits behind their sign. @param value  an integer or a float
std::string number_text(const Value& value, const FormatSpec& spec);
/// Filled up to the width. @param sign_length  bytes in front of which zeros do not go
std::string aligned(std::string_view text, const FormatSpec& spec, std::size_t sign_length, Budget& budget);

}  // namespace tril::chat
