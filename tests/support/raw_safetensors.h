// Builds safetensors files by hand, valid and invalid ones.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "support/raw_number.h"

namespace tril::testing {

inline std::string length_field(std::uint64_t length) {
  return test::raw(length);
}

inline std::string raw_safetensors(std::string_view header, std::string_view data) {
  return length_field(header.size()) + std::string(header) + std::string(data);
}

}  // namespace tril::testing
