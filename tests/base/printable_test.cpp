// Text for messages: UTF-8 as RFC 3629 has it, over all sequences of one to three bytes and the edges of four.
#include "base/printable.h"

#include <gtest/gtest.h>

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

// As many sequences are valid as there are code points: so there is no second way to write any of them.
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

TEST(Printable, EscapesWhatATerminalWouldObey) {
  EXPECT_EQ(printable("plain Grüße 你好"), "plain Grüße 你好");
  EXPECT_EQ(printable("a\x1b[31m\n\t"), "a\\x1B[31m\\x0A\\x09");
  EXPECT_EQ(printable("\xff\xc3"), "\\xFF\\xC3");
  EXPECT_EQ(printable("\xc2\x9b"), "\\xC2\\x9B");  // CSI in 8 bits
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
}

TEST(Printable, CutsBetweenCharacters) {
  EXPECT_EQ(printable("abcdef", 6), "abcdef");
  EXPECT_EQ(printable("abcdefg", 6), "abcdef...");
  EXPECT_EQ(printable("ääää", 3), "ää...");
  EXPECT_LE(printable(std::string(1'000'000, '\n')).size(), 130u);
}

}  // namespace
}  // namespace tril
