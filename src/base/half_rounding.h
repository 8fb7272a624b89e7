// Rounding to a 16-bit float that stays a float, and the way from 16 bits to a float, for loops over many values.
#pragma once

#include <bit>
#include <cstdint>

namespace tril {

/// A float rounded to binary16: f16_to_f32(f32_to_f16(value)). Selections instead of branches, so that compilers can vectorise
/// a loop of it.
constexpr float rounded_to_f16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits & 0x80000000u, magnitude = bits & 0x7fffffffu;
  const std::uint32_t normal = (magnitude + 0xfffu + (magnitude >> 13 & 1u)) & ~0x1fffu;
  const auto small = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5f - 0.5f);  // units of 2^-24
  const std::uint32_t nan = 0x7fc00000u | (magnitude & 0x7fe000u);
  std::uint32_t rounded = magnitude < 0x38800000u ? small : normal;
  rounded = magnitude >= 0x477ff000u ? 0x7f800000u : rounded;  // from 65520 upwards: infinity
  rounded = magnitude > 0x7f800000u ? nan : rounded;
  return std::bit_cast<float>(sign | rounded);
}

/// f16_to_f32(half), likewise without branches.
constexpr float widened_f16(std::uint16_t half) {
  const std::uint32_t magnitude = half & 0x7fffu, sign = std::uint32_t{half & 0x8000u} << 16;
  const auto small = std::bit_cast<std::uint32_t>(static_cast<float>(static_cast<std::int32_t>(magnitude)) * 0x1p-24f);
  const std::uint32_t shifted = magnitude << 13;
  const std::uint32_t quiet = magnitude > 0x7c00u ? 0x400000u : 0u;
  std::uint32_t wide = magnitude < 0x400u ? small : shifted + 0x38000000u;  // the exponent's bias goes from 15 to 127
  wide = magnitude >= 0x7c00u ? (0x7f800000u | shifted) | quiet : wide;     // infinity, NaN
  return std::bit_cast<float>(sign | wide);
}

}  // namespace tril
