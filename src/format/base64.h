// Base64 [RFC 4648, section 4].
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tril {

std::string to_base64(std::string_view bytes);
std::string to_base64(std::span<const std::uint8_t> bytes);
/// Nothing if `text` is not valid Base64.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace tril
