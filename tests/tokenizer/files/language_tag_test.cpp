// The prefix of a text for a multilingual model.
#include "tokenizer/files/language_tag.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file.h"
#include "support/contains.h"
#include "support/error_of.h"
#include "support/paths.h"
#include "support/temporary.h"
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
  for (const char* name : {"de", ">>de<<", "deu", "ger", "DE", "de_DE", "deu_Latn", "<2de>", "__de__"})
    EXPECT_EQ(language_prefix(*with, name, "--target-language"), ">>de<< ") << name;
  for (const char* name : {"it", "german", "xx"})
    EXPECT_TRUE(
        contains(error_of([&] { language_prefix(*with, name, "--target-language"); }), "has no >>", "it has de, fr"))
        << name;
  EXPECT_EQ(language_prefix(*with, "-", "--target-language"), "");
  EXPECT_THROW(language_prefix(*without, "-", "--target-language"), Error);
}

// MADLAD-400's tags are pieces like "<2de>".
TEST(LanguageTag, OfMadladIsPutInFrontOfTheSource) {
  const std::string golden = test::test_dir() + "/golden/hf/tokenizers/unigram_t5";
  nlohmann::json json = nlohmann::json::parse(read_text(golden + "/tokenizer.json", 1 << 24));
  const auto size = static_cast<std::int32_t>(json["model"]["vocab"].size());
  for (const char* tag : {"<2de>", "<2zh_Hant>"})
    json["added_tokens"].push_back({{"id", size + static_cast<std::int32_t>(json["added_tokens"].size())},
                                    {"content", tag},
                                    {"single_word", false},
                                    {"lstrip", false},
                                    {"rstrip", false},
                                    {"normalized", false},
                                    {"special", false}});
  const TemporaryDirectory dir;
  dir.write("tokenizer.json", json.dump());
  const auto tokenizer = load_tokenizer(dir.path());
  EXPECT_EQ(tagged_languages(*tokenizer), (std::vector<std::string>{"de", "zh_Hant"}));
  for (const char* name : {"de", "<2de>", ">>de<<"})
    EXPECT_EQ(language_prefix(*tokenizer, name, "--target-language"), "<2de> ");
  EXPECT_EQ(choose_languages(*tokenizer, "", "zh_Hant", "", "").prefix, "<2zh_Hant> ");
  EXPECT_EQ(leading_tag(*tokenizer, "<2de> a dog"), "<2de> ");
  for (const char* text : {"<2fr> a", "<2> a", "<2de a", "a <2de>"})
    EXPECT_EQ(leading_tag(*tokenizer, text), "") << text;
  EXPECT_THROW(language_prefix(*tokenizer, "fr", "--target-language"), Error);
  EXPECT_EQ(tokenizer->piece(tokenizer->encode("<2de> a dog")[0], Side::source), "<2de>");
}

}  // namespace
}  // namespace tril
