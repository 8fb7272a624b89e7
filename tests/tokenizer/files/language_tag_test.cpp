// The prefix of a text for a multilingual model.
#include "tokenizer/files/language_tag.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/file.h"
#include "support/paths.h"
#include "tokenizer/files/marian_tokenizer.h"

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
  EXPECT_EQ(prepend_language_tag(">>de<< ", "a dog"), ">>de<< a dog");
  EXPECT_EQ(prepend_language_tag(">>de<< ", " a"), ">>de<<  a");
  EXPECT_EQ(prepend_language_tag("", "a dog"), "a dog");
  for (const char* blank : {"", " ", "\t \r", "\n"}) EXPECT_EQ(prepend_language_tag(">>de<< ", blank), blank);
}

TEST(LanguageTag, OfATextIsOneThatTheVocabularyHas) {
  const std::string spm = read_text(test::test_dir() + "/golden/hf/tokenizers/spm_unigram/spm.model", 1 << 24);
  const auto with = make_marian_tokenizer({.source_spm = spm, .target_spm = spm, .tags = {">>de<<", ">>fr<<"}});
  const auto without = make_marian_tokenizer({.source_spm = spm, .target_spm = spm});
  EXPECT_EQ(leading_tag(*with, ">>fr<< a dog"), ">>fr<< ");
  EXPECT_EQ(leading_tag(*with, ">>de<<a dog"), ">>de<< ");
  for (const char* text : {"", "a dog", " >>de<< a", ">>it<< a", ">><< a", ">>de a", "a >>de<<"})
    EXPECT_EQ(leading_tag(*with, text), "") << text;
  EXPECT_EQ(leading_tag(*without, ">>de<< a"), "");
  EXPECT_EQ(language_prefix(*with, "-", "--target-language"), "");
  EXPECT_THROW(language_prefix(*without, "-", "--target-language"), Error);
}

}  // namespace
}  // namespace tril
