// UTF-8 as the Unicode standard defines it (table 3-7) [RFC 3629]: overlong forms, surrogates and code points above U+10FFFF
// are faults.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tril {

/// The length in bytes of the valid sequence at the beginning of `text`; 0 if there is none.
std::size_t utf8_sequence(std::string_view text);

/// The place where a text is not valid UTF-8.
struct Utf8Fault {
  std::size_t offset;  ///< of the first invalid byte, from 0
  std::size_t column;  ///< number of characters before it, plus 1, as editors show it
  std::uint8_t byte;   ///< that byte
};

/// The first fault, or nothing if `text` is valid.
std::optional<Utf8Fault> find_utf8_fault(std::string_view text);

inline bool is_utf8(std::string_view text) {
  return !find_utf8_fault(text).has_value();
}

}  // namespace tril
