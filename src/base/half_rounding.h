// Rounding to a 16-bit float that stays a float, for loops over many values.
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

}  // namespace tril
