// The course speaks two languages.
#pragma once

#include <cstdint>
#include <string_view>

namespace tril::learn {

enum class Language : std::uint8_t { english, chinese };

/// The same sentence in both.
struct Text {
  std::string_view english, chinese;
  std::string_view in(Language l) const { return l == Language::english ? english : chinese; }
};

}  // namespace tril::learn
