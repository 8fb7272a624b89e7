#include "unicode/trim.h"

#include <gtest/gtest.h>

namespace tril {
namespace {

TEST(Utf8, TrimsUnicodeSpaces) {
  EXPECT_EQ(trim(" \t\u00a0\u3000a b\u2003\u2028\x1f\r\n"), "a b");
  EXPECT_EQ(trim("\u3000\u2009 "), "");
  EXPECT_EQ(trim("\u200b"), "\u200b");  // a zero-width space is not white space
}

}  // namespace
}  // namespace tril
