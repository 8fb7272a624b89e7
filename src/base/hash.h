// FNV-1a [Fowler, Noll & Vo]: a 64-bit hash of texts and bytes; not secure against adversaries.
#pragma once

#include <concepts>
#include <cstdint>
#include <string_view>

namespace tril {

class Hash {
 public:
  constexpr Hash& add(std::string_view bytes) {
    for (char byte : bytes) value_ = (value_ ^ static_cast<unsigned char>(byte)) * 0x100000001b3ull;
    return *this;
  }
  /// The eight bytes of an integer, lowest first; a negative one in two's complement.
  template <std::integral T>
  constexpr Hash& add(T number) {
    for (int shift = 0; shift < 64; shift += 8)
      value_ = (value_ ^ (static_cast<std::uint64_t>(number) >> shift & 0xff)) * 0x100000001b3ull;
    return *this;
  }
  constexpr std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325ull;
};

constexpr std::uint64_t hash_of(std::string_view bytes) {
  return Hash().add(bytes).value();
}

}  // namespace tril
