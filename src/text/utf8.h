// UTF-8 as the Unicode standard defines it (table 3-7): overlong forms, surrogates and code points above U+10FFFF are
// faults.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tril {

/// Where a text stops being UTF-8.
struct Utf8Fault {
  std::size_t offset;  ///< of the first byte that belongs to no character, from 0
  std::size_t column;  ///< characters before it, plus 1: what an editor shows
  std::uint8_t byte;   ///< that byte
};

/// The first fault, or nothing where `text` is valid.
std::optional<Utf8Fault> find_utf8_fault(std::string_view text);

inline bool is_utf8(std::string_view text) {
  return !find_utf8_fault(text).has_value();
}

/// How many characters (code points) a valid text has.
std::size_t characters_in(std::string_view text);

/// `text` without the white space (Unicode's White_Space, and U+001C to U+001F) at both its ends.
std::string_view trim(std::string_view text);

}  // namespace tril
