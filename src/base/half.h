// The 16-bit floats as bit patterns: IEEE 754 binary16 (f16: 5 exponent bits, 10 fraction bits) and bfloat16 (bf16: the
// upper half of a float). Conversion to float is exact; conversion from float rounds to nearest, ties to even, like the
// standard's default. A NaN keeps its sign and the upper bits of its payload; conversion to 16 bits makes it quiet.
#pragma once

#include <bit>
#include <cstdint>

namespace tril {

constexpr float bf16_to_f32(std::uint16_t h) {
  return std::bit_cast<float>(std::uint32_t{h} << 16);
}

constexpr std::uint16_t f32_to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<std::uint16_t>(bits >> 16 | 0x40u);
  // Adds half a unit in the last place, or slightly less if the kept part is even, so that a tie goes to the even
  // side. A carry out of the fraction increases the exponent, finally to infinity, as rounding requires.
  return static_cast<std::uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

constexpr float f16_to_f32(std::uint16_t h) {
  const std::uint32_t sign = (h & 0x8000u) << 16, exponent = h >> 10 & 31u, fraction = h & 0x3ffu;
  std::uint32_t magnitude = 0;
  if (exponent == 31)  // infinity, NaN
    magnitude = 0x7f800000u | fraction << 13 | (fraction ? 0x400000u : 0u);
  else if (exponent == 0)  // zero and subnormals: fraction * 2^-24, all of them normal floats
    magnitude = std::bit_cast<std::uint32_t>(static_cast<float>(fraction) * 0x1p-24f);
  else  // the exponent's bias goes from 15 to 127
    magnitude = ((exponent + 112u) << 23) | fraction << 13;
  return std::bit_cast<float>(sign | magnitude);
}

constexpr std::uint16_t f32_to_f16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
  std::uint32_t half = 0;
  if (magnitude > 0x7f800000u)
    half = 0x7e00u | (magnitude >> 13 & 0x3ffu);
  else if (magnitude >= 0x477ff000u)  // from 65520 = max + half a unit upwards: infinity
    half = 0x7c00u;
  else if (magnitude < 0x38800000u)  // below 2^-14: a unit is 2^-24, as in a float in [0.5, 1): the sum rounds
    half = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3f000000u;
  else
    half = (magnitude - (112u << 23) + 0xfffu + (magnitude >> 13 & 1u)) >> 13;
  return static_cast<std::uint16_t>(sign | half);
}

}  // namespace tril
