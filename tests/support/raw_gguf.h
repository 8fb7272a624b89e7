// Builds GGUF files byte by byte, valid and invalid ones.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/raw_number.h"

namespace tril::test {

/// A string in GGUF's form.
inline std::string raw_text(std::string_view text) {
  return raw<std::uint64_t>(text.size()) + std::string(text);
}

/// A metadata entry with the given bytes as its value.
inline std::string raw_entry(std::string_view key, std::uint32_t kind, const std::string& value) {
  return raw_text(key) + raw(kind) + value;
}

/// A tensor's description, with dims in the file's order.
inline std::string raw_tensor(std::string_view name, const std::vector<std::uint64_t>& dims, std::uint32_t type,
                              std::uint64_t offset) {
  std::string bytes = raw_text(name) + raw(static_cast<std::uint32_t>(dims.size()));
  for (const std::uint64_t n : dims) bytes += raw(n);
  return bytes + raw(type) + raw(offset);
}

struct RawGguf {
  std::uint32_t version = 3;
  std::vector<std::string> entries, tensors;
  std::string data;
  std::uint64_t alignment = 32;

  std::string bytes() const {
    std::string b = "GGUF" + raw(version) + raw<std::uint64_t>(tensors.size()) + raw<std::uint64_t>(entries.size());
    for (const std::string& e : entries) b += e;
    for (const std::string& t : tensors) b += t;
    b.append((alignment - b.size() % alignment) % alignment, '\0');
    return b + data;
  }
};

}  // namespace tril::test
