// Text for messages.
#include "base/printable.h"

#include <gtest/gtest.h>

#include "base/message_text.h"

namespace tril {
namespace {

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

TEST(MessageText, KeepsLinesAndAllThatIsLong) {
  EXPECT_EQ(message_text(""), "");
  EXPECT_EQ(message_text("m\xff: a\tb\n\x1b[1m\u00e4\n"), "m\\xFF: a\tb\n\\x1B[1m\u00e4\n");
  EXPECT_EQ(message_text(std::string(100'000, 'x')), std::string(100'000, 'x'));
}

}  // namespace
}  // namespace tril
