// String catalogs of Apple's systems: localizations that are added, kept, and varied.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/contains.h"
#include "support/error_of.h"
#include "support/localisation_file.h"

namespace tril::document::string_catalog_test {
namespace {

using namespace localisation;

const std::string catalog =
    "{\n  \"sourceLanguage\" : \"en\",\n  \"strings\" : {\n    \"\" : {\n\n    },\n    \"A dog\" : {\n\n    },\n    "
    "\"both\" : {\n      \"comment\" : \"a note\",\n      \"extractionState\" : \"manual\",\n      \"localizations\" : "
    "{\n        \"en\" : {\n          \"stringUnit\" : {\n            \"state\" : \"translated\",\n            "
    "\"value\" : \"Hi %@\"\n          }\n        },\n        \"fr\" : {\n          \"stringUnit\" : {\n            "
    "\"state\" : \"translated\",\n            \"value\" : \"Salut\"\n          }\n        }\n      }\n    },\n    "
    "\"no\" "
    ": {\n      \"shouldTranslate\" : false\n    },\n    \"old\" : {\n      \"extractionState\" : \"stale\"\n    }\n  "
    "},\n  \"version\" : \"1.0\"\n}";

TEST(StringCatalog, MissingLocalizationsAreAdded) {
  EXPECT_EQ(texts(catalog, "x.xcstrings"), (std::vector<std::string>{"A dog", "Hi %@"}));
  const std::string out = capitals(catalog, "x.xcstrings");
  EXPECT_TRUE(
      contains(out,
               "    \"A dog\" : {\n      \"localizations\" : {\n        \"de\" : {\n          \"stringUnit\" : "
               "{\n            \"state\" : \"needs_review\",\n            \"value\" : \"A DOG\"\n          }\n  "
               "      }\n      }\n    },\n    \"both\""))
      << out;
  EXPECT_TRUE(
      contains(out,
               "\"localizations\" : {\n        \"de\" : {\n          \"stringUnit\" : {\n            \"state\" "
               ": \"needs_review\",\n            \"value\" : \"HI %@\"\n          }\n        },\n        \"en\" "
               ": {\n"))
      << out;
  const auto before = nlohmann::json::parse(catalog);
  auto after = nlohmann::json::parse(out);
  EXPECT_EQ(texts(out, "x.xcstrings"), std::vector<std::string>{}) << "a second run finds nothing";
  after["strings"]["both"]["localizations"].erase("de");
  after["strings"]["A dog"].erase("localizations");
  EXPECT_EQ(after, before);
  for (const std::string target : {"ja", "zh-Hans"})
    EXPECT_EQ(nlohmann::json::parse(capitals(
                  catalog, "x.xcstrings", target))["strings"]["both"]["localizations"][target]["stringUnit"]["value"],
              "HI %@");
}

TEST(StringCatalog, ExistingTextsStayUnlessTheyAreNew) {
  const auto with = [](const std::string& de, const std::string& target = "de") {
    return "{\"sourceLanguage\":\"en\",\"strings\":{\"dog\":{\"localizations\":{\"" + target + "\":" + de +
           "}}},\"version\":\"1.0\"}";
  };
  const std::string fresh = "{\"stringUnit\":{\"state\":\"needs_review\",\"value\":\"DOG\"}}";
  for (const std::string old : {"{\"stringUnit\":{\"state\":\"new\",\"value\":\"x\"}}",
                                "{\"stringUnit\":{\"state\":\"translated\",\"value\":\"\"}}", "{}"})
    EXPECT_EQ(capitals(with(old), "x.xcstrings"), with(fresh));
  for (const std::string kept : {"{\"stringUnit\":{\"state\":\"needs_review\",\"value\":\"Hund\"}}",
                                 "{\"variations\":{\"plural\":{\"other\":{}}}}"})
    EXPECT_EQ(capitals(with(kept), "x.xcstrings"), with(kept));
  EXPECT_EQ(capitals(with(fresh, "fr"), "x.xcstrings"), with(fresh + ",\"fr\":" + fresh, "de"));
  EXPECT_EQ(capitals("{\"sourceLanguage\":\"en\",\"strings\":{\"dog\":{}}}", "x.xcstrings"),
            "{\"sourceLanguage\":\"en\",\"strings\":{\"dog\":{\"localizations\":{\"de\":" + fresh + "}}}}");
}

TEST(StringCatalog, VariationsFollowTheLanguage) {
  const auto unit = [](const std::string& text) {
    return "{\"stringUnit\":{\"state\":\"translated\",\"value\":\"" + text + "\"}}";
  };
  const auto out = [](const std::string& english, const std::string& target) {
    const std::string file =
        "{\"sourceLanguage\":\"en\",\"strings\":{\"k\":{\"localizations\":{\"en\":" + english + "}}}}";
    return nlohmann::json::parse(capitals(file, "x.xcstrings", target))["strings"]["k"]["localizations"][target];
  };
  const std::string plural = "{\"plural\":{\"one\":" + unit("%lld dog") + ",\"other\":" + unit("%lld dogs") +
                             ",\"zero\":" + unit("no dog") + "}}";
  const auto russian = out("{\"variations\":" + plural + "}", "ru")["variations"]["plural"];
  EXPECT_EQ(russian.size(), 5u);
  for (const auto& [category, text] : std::map<std::string, std::string>{
           {"zero", "NO DOG"}, {"one", "%lld DOG"}, {"few", "%lld DOGS"}, {"many", "%lld DOGS"}})
    EXPECT_EQ(russian[category]["stringUnit"]["value"], text);
  EXPECT_EQ(out("{\"variations\":" + plural + "}", "ja")["variations"]["plural"].size(), 2u) << "zero, other";
  const auto device =
      out("{\"variations\":{\"device\":{\"mac\":" + unit("click") + ",\"other\":{\"variations\":" + plural + "}}}}",
          "de")["variations"]["device"];
  EXPECT_EQ(device["mac"]["stringUnit"]["value"], "CLICK");
  EXPECT_EQ(device["other"]["variations"]["plural"]["one"]["stringUnit"]["value"], "%lld DOG");
  const auto substituted =
      out("{\"stringUnit\":{\"state\":\"translated\",\"value\":\"see %#@files@ now\"},\"substitutions\":{\"files\":{"
          "\"argNum\":2,\"formatSpecifier\":\"lld\",\"variations\":{\"plural\":{\"other\":" +
              unit("%arg files") + "}}}}}",
          "de");
  EXPECT_EQ(substituted["stringUnit"]["value"], "SEE %#@files@ NOW");
  EXPECT_EQ(substituted["substitutions"]["files"]["argNum"], 2);
  EXPECT_EQ(substituted["substitutions"]["files"]["variations"]["plural"]["one"]["stringUnit"]["value"], "%arg FILES");
}

// A case "other" is copied for each category of the language: 6 to the power of the depth.
TEST(StringCatalog, PluralsWithinPluralsAreRefused) {
  const std::string unit = R"({"stringUnit":{"state":"translated","value":"dogs"}})";
  const auto within = [](const std::string& by, const std::string& inner) {
    return R"({"variations":{")" + by + R"(":{"other":)" + inner + "}}}";
  };
  const auto file = [](const std::string& localization) {
    return R"({"sourceLanguage":"en","strings":{"a dog":{"localizations":{"en":)" + localization + "}}}}";
  };
  std::string deep = unit;
  for (int i = 0; i < 9; ++i) deep = within("plural", deep);
  EXPECT_TRUE(contains(error_of([&] { read(file(deep), "x.xcstrings", "ar"); }), "x.xcstrings", "a dog", "plural"));
  EXPECT_EQ(read(file(within("device", within("plural", unit))), "x.xcstrings", "ar")->segments().size(), 6u);
}

TEST(StringCatalog, OtherFilesAreRefused) {
  EXPECT_TRUE(contains(refusal("{}", "x.xcstrings"), "x.xcstrings", "sourceLanguage"));
  EXPECT_TRUE(contains(refusal("{\"sourceLanguage\":\"fr\",\"strings\":{}}", "x.xcstrings"), "source", "fr", "en"));
  EXPECT_TRUE(contains(error_of([] { read_document(catalog, {"x.xcstrings"}); }), "language", "not known"));
}

}  // namespace
}  // namespace tril::document::string_catalog_test
