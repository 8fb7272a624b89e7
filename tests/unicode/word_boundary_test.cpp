#include "unicode/word_boundary.h"

#include <gtest/gtest.h>

#include <string>

namespace tril {
namespace {

// The text with a bar at each boundary.
std::string barred(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at <= text.size(); ++at) {
    const bool inside = at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80;
    if (!inside && is_word_boundary(text, at)) out += '|';
    if (at < text.size()) out += text[at];
  }
  return out;
}

TEST(WordBoundary, IsWhereAWordMayBeginOrEnd) {
  EXPECT_EQ(barred(""), "|");
  EXPECT_EQ(barred("a dog"), "|a| |dog|");
  EXPECT_EQ(barred("dog's"), "|dog|'|s|");
  EXPECT_EQ(barred("x2 (U)"), "|x2| |(|U|)|");
  EXPECT_EQ(barred("Übergröße-Maß"), "|Übergröße|-|Maß|");
  EXPECT_EQ(barred("cafe\u0301s"), "|cafe\u0301s|") << "an accent of its own belongs to the word";
  EXPECT_EQ(barred("Москва река"), "|Москва| |река|");
  EXPECT_EQ(barred("東京tower"), "|東|京|tower|") << "Han has no spaces";
  EXPECT_EQ(barred("한국어"), "|한국어|");
}

}  // namespace
}  // namespace tril
