// Which prompt a model's directory gets.
#include "decode/prompts/choose_prompt.h"

#include <gtest/gtest.h>

#include <set>

#include "base/file.h"
#include "language/code.h"
#include "support/contains.h"
#include "support/error_of.h"
#include "support/paths.h"
#include "support/temporary.h"

namespace tril::search::choose_prompt_test {
namespace {

std::string key_of(const std::vector<std::string>& names, const std::string& type) {
  const KnownPrompt* known = prompt_of_names(names, type);
  return known ? std::string(known->key) : "";
}

TEST(ChoosePrompt, KnowsModelsByNameAndType) {
  EXPECT_EQ(key_of({"tencent/hunyuan-mt-7b"}, "hunyuan_v1_dense"), "hunyuan-mt");
  EXPECT_EQ(key_of({"models--tencent--hy-mt1.5-1.8b"}, "hunyuan_v1_dense"), "hy-mt1.5");
  EXPECT_EQ(key_of({"hy-mt2-30b-a3b"}, "hy_v3"), "hy-mt2");
  EXPECT_EQ(key_of({"towerinstruct-mistral-7b-v0.2"}, "mistral"), "tower-instruct");
  EXPECT_EQ(key_of({"tower-plus-72b"}, "qwen2"), "tower-plus");
  EXPECT_EQ(key_of({"alma-13b-r"}, "llama"), "alma");
  EXPECT_EQ(key_of({"x-alma-13b-group1"}, "llama"), "x-alma");
  EXPECT_EQ(key_of({"eurollm-9b-instruct-2512"}, "llama"), "eurollm");
  EXPECT_EQ(key_of({"seed-x-instruct-7b"}, "mistral"), "seed-x");
  EXPECT_EQ(key_of({"gemmax2-28-9b-v0.1"}, "gemma2"), "gemmax2");
  EXPECT_EQ(key_of({"sarvam-translate.q4_k_m.gguf"}, "gemma3_text"), "sarvam-translate");
  // Not models that translate, or of another type.
  EXPECT_EQ(key_of({"hunyuan-mt-chimera-7b"}, "hunyuan_v1_dense"), "");
  EXPECT_EQ(key_of({"hunyuan-7b-instruct"}, "hunyuan_v1_dense"), "");
  EXPECT_EQ(key_of({"hunyuan-mt-7b"}, "llama"), "");
  EXPECT_EQ(key_of({"eurollm-9b"}, "llama"), "");
  EXPECT_EQ(key_of({"gemmax2-28-2b-pretrain"}, "gemma2"), "");
  EXPECT_EQ(key_of({"alma-7b"}, "mistral"), "");
  EXPECT_EQ(key_of({}, "llama"), "");
  std::set<std::string_view> keys;
  for (const KnownPrompt& known : known_prompts()) {
    EXPECT_TRUE(keys.insert(known.key).second) << known.key;
    EXPECT_EQ(find_prompt(known.key), &known);
  }
}

TEST(ChoosePrompt, ListedLanguagesAreLanguagesOnce) {
  const auto check_list = [](std::string_view key, const std::vector<std::string>& languages) {
    std::set<std::string> codes;
    for (const std::string& code : languages) {
      const std::optional<Language> language = find_language(code);
      ASSERT_TRUE(language) << key << ": " << code;
      EXPECT_TRUE(codes.insert(code_of(*language)).second) << key << ": " << code;
    }
  };
  for (const KnownPrompt& known : known_prompts()) {
    check_list(known.key, known.prompt.languages);
    for (const NamedLanguages& group : known.languages_of) check_list(group.part, group.languages);
    EXPECT_NE(known.prompt.languages.empty(), known.languages_of.empty()) << known.key;
  }
  EXPECT_EQ(find_prompt("milmmt")->prompt.languages.size(), 46U);
  EXPECT_EQ(find_prompt("sarvam-translate")->prompt.languages.size(), 23U);
  std::size_t of_groups = 1;  // English is in each
  for (const NamedLanguages& group : find_prompt("x-alma")->languages_of) of_groups += group.languages.size() - 1;
  EXPECT_EQ(of_groups, 50U);
}

TEST(ChoosePrompt, LanguagesOfTranslateGemmaAreThoseOfItsTable) {
  const auto languages = [](const std::string& table) {
    return structured_prompt("{%- set languages = {" + table + "} -%}{{ messages }}").languages;
  };
  using Codes = std::vector<std::string>;
  EXPECT_EQ(languages("'de-AT': 'German', 'de': 'German', 'de-CH': 'German'"), Codes{"de"});
  EXPECT_EQ(languages("'fil-PH': 'Filipino', 'be': 'Belarusian', 'be-tarask': 'Belarusian'"), (Codes{"fil-PH", "be"}));
  EXPECT_EQ(languages("'sr-RS': 'Serbian', 'sr': 'Serbian', 'sr-Cyrl': 'Serbian', 'sr-Latn-BA': 'Serbian', "
                      "'sr-Latn': 'Serbian', 'zh': 'Chinese', 'zh-TW': 'Chinese', 'zh-Hans': 'Chinese', "
                      "'zh-Hant': 'Chinese'"),
            (Codes{"sr", "sr-Latn", "zh", "zh-Hant"}));
  EXPECT_EQ(languages("'de': 'German', bos_token: 'x'"), Codes{});
  EXPECT_EQ(structured_prompt("{{ messages }}").languages, Codes{});
}

class Directories : public ::testing::Test {
 protected:
  static model::ModelSource opened(const std::string& name) {
    return model::ModelSource::open(test::test_dir() + "/golden/lm_translation/" + name);
  }
};

TEST_F(Directories, ChoosesByTemplateNameAndOption) {
  EXPECT_EQ(choose_prompt(opened("translategemma-4b-it"), "").prompt.form, PromptForm::structured);
  EXPECT_EQ(choose_prompt(opened("ALMA-7B-R"), "").prompt.name, "ALMA");
  const ChosenPrompt general = choose_prompt(opened("some-chat-model"), "");
  EXPECT_TRUE(general.general);
  const ChosenPrompt tower = choose_prompt(opened("some-chat-model"), "tower-plus");
  EXPECT_EQ(tower.prompt.name, "Tower+");
  EXPECT_FALSE(tower.general);

  const ChosenPrompt given = choose_prompt(opened("ALMA-7B-R"), "{{ target_language }}: {{ text }}");
  EXPECT_EQ(given.prompt.form, PromptForm::text);
  EXPECT_EQ(choose_prompt(opened("some-chat-model"), "{{ text }}").prompt.form, PromptForm::message);
  const TemporaryDirectory folder;
  const std::string file = folder.write("prompt.jinja", "Into {{ target_language }}: {{ text }}\n");
  EXPECT_EQ(choose_prompt(opened("ALMA-7B-R"), file).prompt.user, "Into {{ target_language }}: {{ text }}");
}

TEST_F(Directories, ListTheLanguagesOfTheModel) {
  const auto languages = [](const std::string& name) { return known_prompt(opened(name))->prompt.languages; };
  using Codes = std::vector<std::string>;
  EXPECT_EQ(languages("X-ALMA-13B-Group1"), (Codes{"en", "da", "nl", "de", "is", "no", "sv", "af"}));
  EXPECT_EQ(languages("translategemma-4b-it"), (Codes{"en", "de", "pt-BR"}));
  EXPECT_EQ(choose_prompt(opened("ALMA-7B-R"), "x-alma").prompt.languages, Codes{});
  EXPECT_EQ(choose_prompt(opened("X-ALMA-13B-Group1"), "x-alma").prompt.languages.size(), 8U);
}

TEST_F(Directories, NameLanguagesAsThePublisherDoes) {
  const auto written = [&](const std::string& key, const std::string& from, const std::string& to) {
    const TranslationPrompt prompt(find_prompt(key)->prompt, *opened("some-chat-model").tokenizer(), "x");
    return prompt.written({.text = "x", .source = from, .target = to, .context = {}, .terms = {}, .style = ""});
  };
  EXPECT_EQ(written("milmmt", "zh-TW", "tl"),
            "Translate this from Chinese (Traditional) to Tagalog:\nChinese (Traditional): x\nTagalog:");
  EXPECT_EQ(written("milmmt", "zh", "yue"),
            "Translate this from Chinese (Simplified) to Cantonese:\nChinese (Simplified): x\nCantonese:");
  EXPECT_EQ(written("gemmax2", "zh-CN", "fil"), "Translate this from Chinese to Tagalog:\nChinese: x\nTagalog:");
  EXPECT_TRUE(contains(written("hunyuan-mt", "zh", "tl"), "翻译成菲律宾语"));
  EXPECT_TRUE(contains(written("hunyuan-mt", "en", "zh-CN"), "翻译成中文"));
}

TEST_F(Directories, TranslateGemmaGetsTheCodesOfItsTable) {
  const model::ModelSource source = opened("translategemma-4b-it");
  const TranslationPrompt prompt(known_prompt(source)->prompt, *source.tokenizer(), "x");
  const auto written = [&](const std::string& from, const std::string& to) {
    return prompt.written({.text = "x", .source = from, .target = to, .context = {}, .terms = {}, .style = ""});
  };
  EXPECT_TRUE(contains(written("eng_Latn", "pt-PT"), "English (en)", "Portuguese (pt-BR)"));
  EXPECT_TRUE(contains(error_of([&] { written("en", "fr"); }), "target_language", "chat template", "\"fr\"", "pt-BR"));
  prompt.check_language("deu", "x");
  EXPECT_TRUE(contains(error_of([&] { prompt.check_language("fr", "--languages"); }), "--languages", "\"fr\""));
}

TEST_F(Directories, RefusesWhatItDoesNotKnow) {
  const auto refusal = [&](const std::string& name, const std::string& asked) {
    return error_of([&] { choose_prompt(opened(name), asked); });
  };
  EXPECT_TRUE(contains(refusal("ALMA-7B-R", "towr"), "prompt_template", "\"towr\"", "tower-plus"));
  EXPECT_TRUE(contains(refusal("ALMA-7B-R", "{{ source }}"), "prompt_template", "{{ text }}"));
  EXPECT_TRUE(contains(error_of([&] {
                         TranslationPrompt(choose_prompt(opened("ALMA-7B-R"), "tower-plus").prompt,
                                           *opened("ALMA-7B-R").tokenizer(), "ALMA-7B-R");
                       }),
                       "ALMA-7B-R", "no chat template"));
  EXPECT_TRUE(contains(error_of([&] {
                         TranslationPrompt(choose_prompt(opened("ALMA-7B-R"), "{{ text }}{% if %}").prompt,
                                           *opened("ALMA-7B-R").tokenizer(), "ALMA-7B-R");
                       }),
                       "line 1"));
}

}  // namespace
}  // namespace tril::search::choose_prompt_test
