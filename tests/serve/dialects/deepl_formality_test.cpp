// What only language models do for DeepL's clients: formality and context.
#include "decode/texts/prompted_text.h"
#include "decode/texts/translator.h"
#include "support/dialects.h"
#include "support/prompted_model.h"

namespace tril::serve::deepl_formality_test {
namespace {

struct DeeplFormality : ServingDialects {
  static void SetUpTestSuite() {
    translator = testing::prompted("some-chat-model", {"en", "de"}), writer = testing::small_writer(testing::letters);
  }
  static std::string expected(const std::string& style, std::vector<std::string> context = {}) {
    search::TranslatorOptions o;
    o.decoding.search = translator.search;
    o.max_length = 10;
    o.source_language = "en", o.target_language = "de";
    o.style = style;
    o.context = static_cast<std::int32_t>(context.size());
    context.emplace_back("It rains.");
    return search::Translator(search::make_translation_text(*translator.model, translator.tokenizer, translator.prompt),
                              o)
        .translate(context)
        .back()[0]
        .text;
  }
  std::string asked(const Json& more) const {
    Json body{{"text", {"It rains."}}, {"source_lang", "EN"}, {"target_lang", "DE"}};
    body.update(more);
    return post("/v2/translate", body)["translations"][0]["text"];
  }
};

TEST_F(DeeplFormality, IsAStyleOfThePrompt) {
  begin();
  EXPECT_EQ(asked(Json::object()), expected(""));
  EXPECT_EQ(asked({{"formality", "more"}}), expected("formal"));
  EXPECT_EQ(asked({{"formality", "prefer_more"}}), expected("formal"));
  EXPECT_EQ(asked({{"formality", "less"}}), expected("informal"));
  EXPECT_EQ(asked({{"context", "The sky is grey."}}), expected("", {"The sky is grey."}));
  EXPECT_NE(expected("formal"), expected(""));
  EXPECT_NE(expected("formal"), expected("informal"));
  EXPECT_NE(expected("", {"The sky is grey."}), expected(""));
  std::string book;
  for (int i = 0; i < 5000; ++i) book += "The sky is grey. ";
  EXPECT_FALSE(
      post("/v2/translate", {{"text", {"It rains."}}, {"source_lang", "EN"}, {"target_lang", "DE"}, {"context", book}})
          .contains("warnings"))
      << "a long context is shortened, not the text";
  EXPECT_EQ(request("GET", "/v2/languages?type=target")[0]["supports_formality"], true);
}

}  // namespace
}  // namespace tril::serve::deepl_formality_test
