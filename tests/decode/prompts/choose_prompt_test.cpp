// Which prompt a model's directory gets.
#include "decode/prompts/choose_prompt.h"

#include <gtest/gtest.h>

#include <set>

#include "base/file.h"
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
