#include "base/half_rounding.h"

#include <gtest/gtest.h>

#include "base/half.h"

namespace tril {
namespace {

// Every 251st float, and the floats around each tie: rounding in one step is the conversion there and back.
TEST(HalfRounding, IsConversionThereAndBack) {
  const auto check = [](std::uint32_t bits) {
    const auto value = std::bit_cast<float>(bits);
    const float expected = f16_to_f32(f32_to_f16(value)), rounded = rounded_to_f16(value);
    ASSERT_EQ(std::bit_cast<std::uint32_t>(rounded), std::bit_cast<std::uint32_t>(expected)) << value;
  };
  for (std::uint64_t bits = 0; bits <= 0xffffffffu; bits += 251) check(static_cast<std::uint32_t>(bits));
  for (std::uint32_t h = 0; h < 0x10000; ++h) {
    const auto bits = std::bit_cast<std::uint32_t>(f16_to_f32(static_cast<std::uint16_t>(h)));
    for (const std::uint32_t near : {0u, 1u, 0xfffu, 0x1000u, 0x1001u, 0x1fffu}) check(bits + near);
  }
}

}  // namespace
}  // namespace tril
