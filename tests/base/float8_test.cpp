// 8-bit floats: every bit pattern by its definition.
#include "base/float8.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tril {
namespace {

TEST(Float8, EveryPatternIsItsFormula) {
  for (int b = 0; b < 256; ++b) {
    SCOPED_TRACE(b);
    const auto byte = static_cast<std::uint8_t>(b);
    const int e = b >> 3 & 15, f = b & 7;
    const double sign = b & 128 ? -1 : 1;
    if ((b & 127) == 127)
      EXPECT_TRUE(std::isnan(f8_e4m3_to_f32(byte)));
    else
      EXPECT_EQ(f8_e4m3_to_f32(byte), sign * (e == 0 ? std::ldexp(f / 8.0, -6) : std::ldexp(1 + f / 8.0, e - 7)));
    if (b == 255)
      EXPECT_TRUE(std::isnan(f8_e8m0_to_f32(byte)));
    else
      EXPECT_EQ(f8_e8m0_to_f32(byte), std::ldexp(1.0, b - 127));
  }
}

}  // namespace
}  // namespace tril
