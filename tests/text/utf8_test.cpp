#include "text/utf8.h"

#include <gtest/gtest.h>

#include "base/rng.h"

namespace tril {
namespace {

// A slow twin: decode to a code point, then ask whether its shortest form has as many bytes.
std::size_t slow_length(std::string_view s) {
  if (s.empty()) return 0;
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(s[i]); };
  std::size_t n = byte(0) < 0x80         ? 1
                  : (byte(0) >> 5) == 6  ? 2
                  : (byte(0) >> 4) == 14 ? 3
                  : (byte(0) >> 3) == 30 ? 4
                                         : 0;
  if (n == 0 || s.size() < n) return 0;
  std::uint32_t point = n == 1 ? byte(0) : byte(0) & (0x7fu >> n);
  for (std::size_t i = 1; i < n; ++i) {
    if ((byte(i) >> 6) != 2) return 0;
    point = point << 6 | (byte(i) & 0x3f);
  }
  const std::size_t shortest = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
  return point > 0x10ffff || (point >= 0xd800 && point < 0xe000) || shortest != n ? 0 : n;
}

TEST(Utf8, TellsTheFirstFault) {
  EXPECT_FALSE(find_utf8_fault(""));
  EXPECT_FALSE(find_utf8_fault("Zwei M\u00e4nner \u6f22\u5b57 \U0001f98a"));
  const auto fault = find_utf8_fault("\u00e4\u6f22\U0001f98a and more text \xc3(");
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->offset, 2u + 3 + 4 + 15);
  EXPECT_EQ(fault->column, 3u + 15 + 1);
  EXPECT_EQ(fault->byte, 0xc3);
}

TEST(Utf8, RefusesWhatTheStandardRefuses) {
  for (const char* bad : {"\x80", "\xc0\xaf", "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf",
                          "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff", "\xe6\xbc", "\xf0\x9f\xa6"})
    EXPECT_TRUE(find_utf8_fault(bad)) << bad;
  for (const char* good : {"\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xee\x80\x80", "\xef\xbf\xbf",
                           "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"})
    EXPECT_FALSE(find_utf8_fault(good)) << good;
}

TEST(Utf8, EqualsTheSlowTwinOnRandomBytes) {
  RandomSequence random(7, 1);
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes;
    for (std::uint64_t n = random.below(20); n > 0; --n)  // lead and trail bytes in plenty
      bytes += static_cast<char>(random.below(3) == 0 ? random.below(128) : 0x80 + random.below(128));
    std::size_t offset = 0, column = 1;
    while (const std::size_t n = slow_length(std::string_view(bytes).substr(offset))) {
      offset += n;
      ++column;
    }
    const auto fault = find_utf8_fault(bytes);
    ASSERT_EQ(fault.has_value(), offset < bytes.size());
    if (fault) {
      ASSERT_EQ(fault->offset, offset);
      ASSERT_EQ(fault->column, column);
    }
  }
}

TEST(Utf8, TrimsUnicodeSpaces) {
  EXPECT_EQ(trim(" \t\u00a0\u3000a b\u2003\u2028\x1f\r\n"), "a b");
  EXPECT_EQ(trim("\u3000\u2009 "), "");
  EXPECT_EQ(trim("\u200b"), "\u200b");  // a zero-width space is no white space
}

}  // namespace
}  // namespace tril
