// The wording of a limit in an error message.
#pragma once

#include <fmt/format.h>

#include <string>

namespace tril {

/// "at most 4 are allowed", "at most 1 is allowed"
template <class Number>
std::string allowed(Number most) {
  return fmt::format("at most {} {} allowed", most, most == 1 ? "is" : "are");
}

}  // namespace tril
