// Languages in the names of models.
#include "language/name_pair.h"

#include <gtest/gtest.h>

namespace tril::name_pair_test {
namespace {

std::string pair(std::string_view name) {
  const std::optional<NamedPair> found = languages_in_name(name);
  return found ? found->source + " " + found->target : "none";
}

TEST(NamePair, IsReadFromThePublishersForms) {
  EXPECT_EQ(pair("opus-mt-en-de"), "en de");
  EXPECT_EQ(pair("opus-mt-mt-en"), "mt en");  // Maltese
  EXPECT_EQ(pair("opus-mt-tc-big-en-pt"), "en pt");
  EXPECT_EQ(pair("opus-mt-tc-base-uk-fi"), "uk fi");
  EXPECT_EQ(pair("OPUS-MT-en-pt_BR"), "en pt_br");
  EXPECT_EQ(pair("opus-mt-eng-deu-ct2-int8"), "eng deu");
  EXPECT_EQ(pair("opus-mt-en-de.q8.gguf"), "en de");
  EXPECT_EQ(pair("opus-tatoeba-en-ja"), "en ja");
  EXPECT_EQ(pair("translate-en_de-1_0"), "en de");
  EXPECT_EQ(pair("translate-pb_en-1.9"), "pb en");
  EXPECT_EQ(pair("translate-en_zt"), "en zt");
  EXPECT_EQ(pair("ende.student.tiny11"), "en de");
  EXPECT_EQ(pair("csen.student.base"), "cs en");
}

TEST(NamePair, OfGroupsOrSeveralLanguagesIsNone) {
  for (const char* name :
       {"opus-mt-ROMANCE-en", "opus-mt-en-mul", "opus-mt-mul-en", "opus-mt-tc-big-gmw-gmw", "opus-mt-en-roa",
        "opus-mt-gem-en", "opus-mt-en-sla", "opus-mt-tc-big-zle-en", "opus-mt-en-ine", "opus-mt-itc-en",
        "opus-mt-en-bat", "opus-mt-art-en", "opus-mt-SCANDINAVIA-SCANDINAVIA", "opus-mt-NORTH_EU-NORTH_EU",
        "opus-mt-en_el_es_fi-en_el_es_fi", "opus-mt-tc-bible-big-deu_eng_fra_por_spa-gem", "opus-mt-en-de-fr",
        "translate-en_de_fr-1_0"})
    EXPECT_EQ(pair(name), "none") << name;
}

TEST(NamePair, OfOtherNamesIsNone) {
  for (const char* name : {"",
                           "-",
                           "opus",
                           "opus-mt",
                           "opus-mt-",
                           "opus-mt-en",
                           "opus-mt-tc-big",
                           "my-model-en-de",
                           "what-is-it",
                           "opus-mt-en-xx",
                           "translate",
                           "translate-",
                           "translate-en",
                           "translate-en-de",
                           "translate-en_de-int8",
                           "translate-en_de-1-0",
                           "ende",
                           "data",
                           "base.en",
                           "some.student.x",
                           "ende.teacher",
                           "student.ende",
                           "enxx.student.tiny11",
                           "nllb-200-distilled-600M"})
    EXPECT_EQ(pair(name), "none") << name;
}

}  // namespace
}  // namespace tril::name_pair_test
