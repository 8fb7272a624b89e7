// Codes of languages in all forms.
#include "language/code.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "language/match.h"
#include "language/name.h"
#include "support/rounds.h"

namespace tril {
namespace {

std::string code(std::string_view text) {
  const std::optional<Language> l = find_language(text);
  return l ? code_of(*l) : "none";
}

TEST(LanguageCode, OfOneLanguageIsTheSameInAllForms) {
  for (const char* text :
       {"de", "DE", "deu", "ger", "de-DE", "de_DE", "deu_Latn", "de-Latn-DE", ">>de<<", ">>deu<<", "<2de>", "__de__"})
    EXPECT_EQ(code(text), "de") << text;
  for (const char* text : {"fr", "fre", "fra", "fr_XX", "fra_Latn"}) EXPECT_EQ(code(text), "fr") << text;
  for (const char* text : {"cs", "cze", "ces", "cs_CZ"}) EXPECT_EQ(code(text), "cs") << text;
  for (const char* text : {"ar", "ara", "arb_Arab", "ar_AR"}) EXPECT_EQ(code(text), "ar") << text;
  for (const char* text : {"zh-Hans", "zh-CN", "zho_Hans", "cmn_Hans", "ZH-HANS", "zh_CN"})
    EXPECT_EQ(code(text), "zh-Hans") << text;
  for (const char* text : {"zh-Hant", "zh-TW", "zho_Hant", "zt", "cmn-Hant", "zho_tw"})
    EXPECT_EQ(code(text), "zh-Hant") << text;
  for (const char* text : {"zh", "zho", "chi", "cmn", "<2zh>"}) EXPECT_EQ(code(text), "zh") << text;
  for (const char* text : {"pt-BR", "pb", "pt_br", ">>pt_br<<"}) EXPECT_EQ(code(text), "pt-BR") << text;
}

TEST(LanguageCode, KnowsTheFormsOfModelsAndServices) {
  const std::vector<std::pair<std::string, std::string>> table{{"iw", "he"},
                                                               {"jw", "jv"},
                                                               {"tl", "fil"},
                                                               {"tgl_Latn", "fil"},
                                                               {"fil", "fil"},
                                                               {"nb", "nb"},
                                                               {"nob_Latn", "nb"},
                                                               {"nno_Latn", "nn"},
                                                               {"no", "no"},
                                                               {"EN-GB", "en-GB"},
                                                               {"en-US", "en-US"},
                                                               {"en_XX", "en"},
                                                               {"eng_Latn", "en"},
                                                               {"sr-Latn", "sr-Latn"},
                                                               {"srp_Cyrl", "sr"},
                                                               {"sh", "sr-Latn"},
                                                               {"es-419", "es-419"},
                                                               {"pt-PT", "pt-PT"},
                                                               {"pes_Arab", "fa"},
                                                               {"prs_Arab", "fa-AF"},
                                                               {"zsm_Latn", "ms"},
                                                               {"ns", "nso"},
                                                               {"pbt_Arab", "ps"},
                                                               {"azb_Arab", "az-Arab"},
                                                               {"azj_Latn", "az"},
                                                               {"jpn_Jpan", "ja"},
                                                               {"kor_Hang", "ko"},
                                                               {"yue_Hant", "yue"},
                                                               {"zh-yue", "yue"},
                                                               {"kas_Deva", "ks-Deva"},
                                                               {"ace_Arab", "ace-Arab"},
                                                               {"taq_Tfng", "taq-Tfng"},
                                                               {"quy_Latn", "qu"},
                                                               {"mni-Mtei", "mni-Mtei"},
                                                               {"ja_XX", "ja"}};
  for (const auto& [text, expected] : table) EXPECT_EQ(code(text), expected) << text;
}

TEST(LanguageCode, IsNothingElse) {
  for (const char* text : {"",      "-",    "d",    "und",    "mul",       "auto", "xx",           "qqq",
                           "de_XY", "de-",  "-de",  "de--DE", "german",    "d e",  "de-Qqqz",      "de-DE-x",
                           "<2>",   ">><<", "____", "de\n",   "d\xc3\xa9", "roa",  "de-Latn-DE-de"})
    EXPECT_EQ(code(text), "none") << text;
  EXPECT_FALSE(find_language(std::string(100'000, 'a')));
  EXPECT_FALSE(find_language(std::string("de\0", 3)));
}

TEST(LanguageCode, ThatIsWrongIsToldTheNearest) {
  EXPECT_EQ(language_of("deu", "source").language, "de");
  try {
    (void)language_of("german", "source");
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::usage);
    EXPECT_EQ(std::string(e.what()), "source: expected a language code, got \"german\"; for German it is de");
  }
  EXPECT_EQ(nearest_language("Deutsch"), "for Deutsch it is de");
  EXPECT_EQ(nearest_language("Germann"), "for German it is de");
  EXPECT_EQ(nearest_language(""), "");
}

TEST(LanguageCode, NamesAreInTheAskersLanguage) {
  EXPECT_EQ(language_name({"de", "", ""}, "en"), "German");
  EXPECT_EQ(language_name({"zh", "Hans", ""}, "de"), "Chinesisch (Vereinfacht)");
  EXPECT_EQ(language_name({"pt", "", "BR"}, "fr"), "portugais (Brésil)");
  EXPECT_EQ(language_name({"de", "", ""}, "no such locale"), "German");
  EXPECT_EQ(own_name({"de", "", ""}), "Deutsch");
  EXPECT_EQ(language_name({"sv", "", ""}, "sv"), "svenska");
  EXPECT_EQ(own_name({"ja", "", ""}), "日本語");
  EXPECT_EQ(preferred_locale("fr;q=0.5, de-CH"), "de_CH");
  EXPECT_EQ(preferred_locale("tlh, ja;q=0.1"), "ja");
  for (const char* none : {"", "*", "qqq", ";;;", "\xff\xfe", "de;q=0"})
    EXPECT_EQ(preferred_locale(none), "en") << none;
}

std::string found(const std::vector<std::string>& names, std::string_view wanted) {
  const KnownLanguages known(names);
  const auto at = known.find(wanted);
  return at ? names[*at] : "none";
}

TEST(LanguageMatch, IsByLanguageThenScriptThenRegion) {
  EXPECT_EQ(found({"fr", "deu_Latn", "zho_Hant", "zho_Hans"}, "ger"), "deu_Latn");
  EXPECT_EQ(found({"zho_Hant", "zho_Hans"}, "zh"), "zho_Hans");
  EXPECT_EQ(found({"zho_Hant", "zho_Hans"}, "zh-TW"), "zho_Hant");
  EXPECT_EQ(found({"zho_Hant"}, "zh"), "zho_Hant") << "the script is open";
  EXPECT_EQ(found({"zh"}, "zh-Hant"), "none") << "the usual script is Hans";
  EXPECT_EQ(found({"zh"}, "zh-CN"), "zh");
  EXPECT_EQ(found({"pt_PT", "pt_BR"}, "pt"), "pt_BR") << "CLDR's usual region";
  EXPECT_EQ(found({"pt_PT"}, "pt"), "pt_PT");
  EXPECT_EQ(found({"pt", "pt_BR"}, "pt-BR"), "pt_BR");
  EXPECT_EQ(found({"pt", "pt_BR"}, "pt-PT"), "pt");
  EXPECT_EQ(found({"en_XX", "de_DE"}, "de-AT"), "de_DE");
  EXPECT_EQ(found({"srp_Cyrl"}, "sr-Latn"), "none");
  EXPECT_EQ(found({"nob_Latn", "nno_Latn"}, "no"), "nob_Latn");
  EXPECT_EQ(found({"no"}, "nb"), "no");
  EXPECT_EQ(found({"nob_Latn"}, "nn"), "none");
  EXPECT_EQ(found({"aka_Latn", "twi_Latn"}, "twi_Latn"), "twi_Latn") << "its own name comes first";
  EXPECT_EQ(found({"roa", "formal"}, ">>roa<<"), "roa") << "a name that is no code";
  EXPECT_EQ(found({"fr", "ca"}, "oc"), "none");
  EXPECT_EQ(found({}, "de"), "none");
  EXPECT_TRUE(same_language(*find_language("zh"), *find_language("zho_Hans")));
  EXPECT_TRUE(same_language(*find_language("no"), *find_language("nb")));
  EXPECT_FALSE(same_language(*find_language("nn"), *find_language("no")));
  EXPECT_FALSE(same_language(*find_language("zh"), *find_language("zh-TW")));
  EXPECT_EQ(KnownLanguages({"deu_Latn", "formal"}).code(0), "de");
  EXPECT_EQ(KnownLanguages({"deu_Latn", "formal"}).code(1), "formal");
  EXPECT_EQ(KnownLanguages({"de", "fr"}).hint("sv"), "it has de, fr");
}

TEST(LanguageCode, TakesAnyBytes) {
  const std::string bytes = "azAZ-_<>2019 \xff\xc3\x00x";
  test::rounds(300, [&](RandomSequence& random) {
    std::string text;
    for (auto n = random.below(14); n > 0; --n) text += bytes[random.below(bytes.size())];
    if (const std::optional<Language> l = find_language(text)) {
      EXPECT_FALSE(l->language.empty());
      const std::optional<Language> again = find_language(code_of(*l));
      ASSERT_TRUE(again) << text;
      EXPECT_EQ(language_distance(*again, *l).value_or(100) / 10, 0) << text;
      EXPECT_EQ(code_of(*again), code_of(*l)) << text;
    }
    (void)preferred_locale(text);
  });
}

}  // namespace
}  // namespace tril
