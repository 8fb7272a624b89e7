// The 8-bit floats of published weights as bit patterns. Conversion to float is exact.
//
// e4m3: 4 exponent bits with bias 7, 3 fraction bits, no infinities; only 0x7f and 0xff are NaN [Micikevicius et al.
// 2022, "FP8 Formats for Deep Learning"]. e8m0: a power of two, 2^(b - 127); 0xff is NaN [OCP Microscaling Formats 1.0].
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <limits>

namespace tril {

constexpr float f8_e4m3_to_f32(std::uint8_t b) {
  const std::uint32_t exponent = b >> 3 & 15u, fraction = b & 7u;
  float magnitude = 0;
  if ((b & 0x7fu) == 0x7fu)
    magnitude = std::numeric_limits<float>::quiet_NaN();
  else if (exponent == 0)  // zero and subnormals
    magnitude = static_cast<float>(fraction) * 0x1p-9f;
  else  // the exponent's bias goes from 7 to 127
    magnitude = std::bit_cast<float>((exponent + 120u) << 23 | fraction << 20);
  return b & 0x80u ? -magnitude : magnitude;
}

/// The value of each pattern: a conversion of many is a look-up.
inline constexpr std::array<float, 256> f8_e4m3_values = [] {
  std::array<float, 256> values{};
  for (std::size_t b = 0; b < values.size(); ++b) values[b] = f8_e4m3_to_f32(static_cast<std::uint8_t>(b));
  return values;
}();

constexpr float f8_e8m0_to_f32(std::uint8_t b) {
  if (b == 255) return std::numeric_limits<float>::quiet_NaN();
  return std::bit_cast<float>(b == 0 ? 0x00400000u : std::uint32_t{b} << 23);  // 2^-127 is a subnormal float
}

}  // namespace tril
