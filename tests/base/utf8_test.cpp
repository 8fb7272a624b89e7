// UTF-8 as RFC 3629 has it, over all sequences of one to three bytes and the edges of four.
#include "base/utf8.h"

#include <gtest/gtest.h>

#include "base/as_utf8.h"
#include "support/rounds.h"

namespace tril {
namespace {

std::string encode(unsigned code) {
  const auto byte = [](unsigned b) { return static_cast<char>(b); };
  if (code < 0x80) return {byte(code)};
  if (code < 0x800) return {byte(0xc0 | code >> 6), byte(0x80 | (code & 63))};
  if (code < 0x10000) return {byte(0xe0 | code >> 12), byte(0x80 | (code >> 6 & 63)), byte(0x80 | (code & 63))};
  return {byte(0xf0 | code >> 18), byte(0x80 | (code >> 12 & 63)), byte(0x80 | (code >> 6 & 63)),
          byte(0x80 | (code & 63))};
}

TEST(Utf8, EveryCodePointIsASequenceAndSurrogatesAreNot) {
  for (unsigned code = 0; code < 0x120000; ++code) {
    const bool valid = code < 0xd800 || (code > 0xdfff && code < 0x110000);
    const std::string text = encode(code);
    ASSERT_EQ(utf8_sequence(text), valid ? text.size() : 0u) << code;
    ASSERT_EQ(utf8_sequence(text + "x"), valid ? text.size() : 0u) << code;
    if (text.size() > 1) {
      ASSERT_EQ(utf8_sequence(text.substr(0, text.size() - 1)), 0u) << code;
    }
  }
  EXPECT_EQ(utf8_sequence(""), 0u);
}

// There are as many valid sequences as code points: so none can be written in a second way.
TEST(Utf8, NothingElseIsASequence) {
  int two = 0, three = 0;
  for (unsigned bits = 0; bits < 1u << 24; ++bits) {
    const char text[] = {static_cast<char>(bits), static_cast<char>(bits >> 8), static_cast<char>(bits >> 16)};
    const std::size_t length = utf8_sequence({text, 3});
    three += length == 3;
    if (bits < 1u << 16) two += utf8_sequence({text, 2}) == 2;
  }
  EXPECT_EQ(two, 0x800 - 0x80);
  EXPECT_EQ(three, 0x10000 - 0x800 - 0x800);
}

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

TEST(Utf8, EveryStrayByteIsReplaced) {
  EXPECT_EQ(as_utf8(""), "");
  EXPECT_EQ(as_utf8("Zwei M\u00e4nner"), "Zwei M\u00e4nner");
  EXPECT_EQ(as_utf8("m\xff\u00e4\xf0\x9f."), "m\ufffd\u00e4\ufffd\ufffd.");
  EXPECT_FALSE(find_utf8_fault(as_utf8("\xed\xa0\x80")));
}

TEST(Utf8, EqualsTheSlowTwinOnRandomBytes) {
  test::rounds(20'000, [&](RandomSequence& random) {
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
  });
}

}  // namespace
}  // namespace tril
