// What stands in front of a text for a model of several languages.
#include "text/language_tag.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace tril {
namespace {

TEST(LanguageTag, IsMadeOfANameOrIsOne) {
  EXPECT_EQ(language_tag("de", "--target-language"), ">>de<<");
  EXPECT_EQ(language_tag(">>pt_br<<", "--target-language"), ">>pt_br<<");
  for (const char* name : {"", "d e", ">>de", "de<<", ">><<", "a>>b<<c"}) {
    EXPECT_THROW(language_tag(name, "--target-language"), Error) << "'" << name << "'";
  }
}

TEST(LanguageTag, StandsInFrontOfTextAndNotOfBlanks) {
  EXPECT_EQ(behind_prefix(">>de<< ", "a dog"), ">>de<< a dog");
  EXPECT_EQ(behind_prefix(">>de<< ", " a"), ">>de<<  a");
  EXPECT_EQ(behind_prefix("", "a dog"), "a dog");
  for (const char* blank : {"", " ", "\t \r", "\n"}) EXPECT_EQ(behind_prefix(">>de<< ", blank), blank);
}

}  // namespace
}  // namespace tril
