// The 16-bit floats against their definition, over every pattern and every tie between neighbours.
#include "base/half.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tril {
namespace {

constexpr float inf = std::numeric_limits<float>::infinity();

// The value of a pattern from its definition: sign, exponent of E bits, fraction of F bits.
double value_of(std::uint16_t h, int exponent_bits, int fraction_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = h >> fraction_bits & ((1 << exponent_bits) - 1), fraction = h & ((1 << fraction_bits) - 1);
  const double sign = h & 0x8000 ? -1 : 1;
  if (exponent == (1 << exponent_bits) - 1)
    return fraction ? std::numeric_limits<double>::quiet_NaN() : sign * std::numeric_limits<double>::infinity();
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - fraction_bits);
  return sign * std::ldexp((1 << fraction_bits) + fraction, exponent - bias - fraction_bits);
}

struct Format {
  const char* name;
  int exponent_bits, fraction_bits;
  float (*to_f32)(std::uint16_t);
  std::uint16_t (*from_f32)(float);
};
const Format kFormats[] = {{"f16", 5, 10, f16_to_f32, f32_to_f16}, {"bf16", 8, 7, bf16_to_f32, f32_to_bf16}};

TEST(Half, EveryPatternHasItsValueAndComesBack) {
  for (const Format& f : kFormats)
    for (unsigned h = 0; h < 0x10000; ++h) {
      const auto pattern = static_cast<std::uint16_t>(h);
      const double expected = value_of(pattern, f.exponent_bits, f.fraction_bits);
      const float value = f.to_f32(pattern);
      if (std::isnan(expected)) {
        ASSERT_TRUE(std::isnan(value)) << f.name << " " << h;
        ASSERT_TRUE(std::isnan(f.to_f32(f.from_f32(value)))) << f.name << " " << h;
        ASSERT_EQ(std::signbit(f.to_f32(f.from_f32(value))), (h & 0x8000) != 0) << f.name << " " << h;
        continue;
      }
      ASSERT_EQ(static_cast<double>(value), expected) << f.name << " " << h;
      ASSERT_EQ(std::signbit(value), (h & 0x8000) != 0) << f.name << " " << h;
      ASSERT_EQ(f.from_f32(value), pattern) << f.name << " " << h;
    }
}

// Between each value and the next one away from zero: a tie rounds to the even pattern, the floats next to it to their
// side. After the largest value comes infinity, as if the exponents went on.
TEST(Half, RoundsToNearestTiesToEven) {
  for (const Format& f : kFormats) {
    const unsigned infinity = ((1u << f.exponent_bits) - 1) << f.fraction_bits;
    for (unsigned h = 0; h < infinity; ++h)
      for (const unsigned sign : {0u, 0x8000u}) {
        const auto low = static_cast<std::uint16_t>(h), high = static_cast<std::uint16_t>(h + 1);
        const double a = value_of(low, f.exponent_bits, f.fraction_bits);
        const double b = h + 1 == infinity ? std::ldexp(1.0, 1 << (f.exponent_bits - 1))
                                           : value_of(high, f.exponent_bits, f.fraction_bits);
        const double middle = (a + b) / 2;
        ASSERT_EQ(static_cast<double>(static_cast<float>(middle)), middle);
        const auto rounded = [&](float x) { return f.from_f32(sign ? -x : x) & 0x7fffu; };
        const auto tie = static_cast<float>(middle);
        ASSERT_EQ(rounded(tie), h % 2 ? high : low) << f.name << " " << h;
        ASSERT_EQ(rounded(std::nextafter(tie, 0.0f)), low) << f.name << " " << h;
        ASSERT_EQ(rounded(std::nextafter(tie, inf)), high) << f.name << " " << h;
        ASSERT_EQ(f.from_f32(sign ? -tie : tie) & 0x8000u, sign) << f.name << " " << h;
      }
  }
}

TEST(Half, InfinityOverflowAndTiny) {
  EXPECT_EQ(f32_to_f16(65504.0f), 0x7bff);
  EXPECT_EQ(f32_to_f16(65519.99f), 0x7bff);
  EXPECT_EQ(f32_to_f16(65520.0f), 0x7c00);
  EXPECT_EQ(f32_to_f16(-inf), 0xfc00);
  EXPECT_EQ(f32_to_f16(std::numeric_limits<float>::denorm_min()), 0);
  EXPECT_EQ(f32_to_bf16(std::numeric_limits<float>::max()), 0x7f80);
  EXPECT_EQ(f32_to_bf16(inf), 0x7f80);
  // The quiet bit is set even where the payload's upper bits are all zero.
  const float signalling = std::bit_cast<float>(0x7f800001u);
  EXPECT_EQ(f32_to_bf16(signalling), 0x7fc0);
  EXPECT_EQ(f32_to_f16(signalling), 0x7e00);
}

}  // namespace
}  // namespace tril
