// llama.cpp's named pre-tokenizers: the words equal those of an independent implementation of the same expressions
// (make_gguf_pre_cases.py), and steps without expressions equal the expressions that they replace.
#include "tokenizer/files/gguf_pre.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "support/paths.h"
#include "support/rounds.h"
#include "support/temporary.h"
#include "tokenizer/pipeline/digit_groups.h"
#include "tokenizer/pipeline/pre_tokenizer.h"
#include "tokenizer/pipeline/regex.h"
#include "unicode/characters.h"

namespace tril {
namespace {

using Lengths = std::vector<std::int64_t>;

std::int64_t count_characters(const std::string& text) {
  return std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; });
}

std::vector<std::string> words_of(const PreTokenizers& steps, const std::string& text) {
  std::vector<PreTokenizerScratch> scratch(steps.steps());
  std::vector<std::string> words;
  steps.cut({text, true}, scratch, [&](Word word) { words.emplace_back(word.text); });
  return words;
}

TEST(GgufPre, WordsAreThoseOfTheExpressions) {
  const auto golden =
      nlohmann::json::parse(read_text(test::test_dir() + "/tokenizer/files/gguf_pre_cases.json", 1 << 24));
  std::vector<std::string> known = gguf_pre_names(), held;
  for (const auto& [name, of] : golden["names"].items()) {
    SCOPED_TRACE(name);
    held.push_back(name);
    const PreTokenizers steps(gguf_pre(name, "x").steps, /*letters=*/false, "x");
    const auto& expected = golden["cases"][of.get<std::string>()];
    for (std::size_t i = 0; i < golden["texts"].size(); ++i) {
      const auto text = golden["texts"][i].get<std::string>();
      Lengths lengths;
      std::string together;
      for (const std::string& word : words_of(steps, text)) {
        lengths.push_back(count_characters(word));
        together += word;
      }
      EXPECT_EQ(lengths, expected[i].get<Lengths>()) << golden["texts"][i].dump();
      EXPECT_EQ(together, text);
    }
  }
  std::sort(known.begin(), known.end());
  std::sort(held.begin(), held.end());
  EXPECT_EQ(known, held) << "every name has golden words";
  EXPECT_GT(golden["texts"].size(), 70u);
}

TEST(GgufPre, NamesAreThoseOfLlamaCppAndOthersAreToldWhatToDo) {
  const auto is = [](const char* name, bool ignore_merges, bool adds_bos, bool by_character) {
    const GgufPre& p = gguf_pre(name, "x");
    EXPECT_EQ(p.ignore_merges, ignore_merges) << name;
    EXPECT_EQ(p.adds_bos, adds_bos) << name;
    EXPECT_EQ(p.by_character, by_character) << name;
  };
  for (const char* name : {"minicpm5", "youtu", "granite-embed-multi-97m", "glm4", "glm5"})
    is(name, true, false, false);
  for (const char* name : {"llama3", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2", "tekken"})
    is(name, true, true, false);
  is("chameleon", false, true, false);
  is("gemma4", false, true, true);
  is("sarvam-moe", false, false, true);
  for (const char* name :
       {"default", "gpt-2", "chatglm-bpe", "dbrx", "smaug-bpe", "qwen2", "qwen35", "deepseek-llm", "deepseek-v3",
        "falcon", "bloom", "kimi-k2", "superbpe", "afmoe", "viking", "hunyuan-dense", "bailingmoe", "roberta-bpe"})
    is(name, false, false, false);
  for (const GgufPre* p : {&gguf_pre("gpt-2", "x"), &gguf_pre("deepseek-v3", "x"), &gguf_pre("gemma4", "x"),
                           &gguf_pre("granite-embed-multi-97m", "x"), &gguf_pre("falcon", "x")})
    EXPECT_EQ(gguf_pre_name(p->normalizers, p->steps, p->ignore_merges), p->names[0]);
  const std::string error = error_of([] { gguf_pre("deepseek-v33", "m.gguf: tokenizer.ggml.pre"); });
  EXPECT_TRUE(contains(error, "m.gguf: tokenizer.ggml.pre: the pre-tokenizer \"deepseek-v33\" is not supported"))
      << error;
  EXPECT_TRUE(contains(error, "did you mean deepseek-v3?")) << error;
  EXPECT_TRUE(contains(error, "tokenizer.json")) << error;
  const std::string whitespace = error_of([] { gguf_pre("whitespace", "m.gguf: tokenizer.ggml.pre"); });
  EXPECT_TRUE(contains(whitespace, "m.gguf: tokenizer.ggml.pre: the pre-tokenizer \"whitespace\" is not supported"))
      << whitespace;
  EXPECT_TRUE(contains(whitespace, "embedding models")) << whitespace;
}

// Anything that may follow a number, one character at a time, and numbers of every length within other text.
TEST(DigitGroups, CutAsTheRegularExpressionsDo) {
  std::vector<std::string> texts;
  const Regex assigned(R"(\P{Cn})", "x");  // the libraries may have different Unicode versions
  const auto step = static_cast<char32_t>(test::stride(0x20000));
  for (char32_t c = 0; c < 0x20000; c += step) {
    if (c >= 0xd800 && c < 0xe000) continue;
    std::string character;
    append_utf8(character, c);
    std::vector<std::pair<std::size_t, std::size_t>> found;
    assigned.find_all(character, found);
    if (!found.empty()) texts.push_back("x1234" + character + "56");
  }
  EXPECT_GT(texts.size(), 60000u / step);
  const std::vector<std::string> parts = {"1",      "12",     "123",        "4567",   "a",          "_",
                                          " ",      "\u00bd", "\u0663",     "\u2167", "\u0301",     ".",
                                          "\u4e16", "\u200d", "\U0001d7d8", "\u2460", "12345678901"};
  test::rounds(4000, [&](RandomSequence& random) {
    std::string text;
    for (std::uint64_t n = 1 + random.below(7); n > 0; --n) text += parts[random.below(parts.size())];
    texts.push_back(std::move(text));
  });
  for (const std::string_view pattern : {number_groups_pattern, bounded_groups_pattern, before_groups_pattern}) {
    const SplitBy split{.pattern = {.text = std::string(pattern), .regex = true}, .behavior = SplitBehavior::isolated};
    ASSERT_TRUE(find_digit_groups(split));
    SplitBy same = split;  // the same meaning, spelt differently
    same.pattern.text = "(?:" + same.pattern.text + ")";
    ASSERT_FALSE(find_digit_groups(same));
    const PreTokenizers fast({split}, true, "x"), slow({same}, true, "x");
    for (const std::string& text : texts)
      ASSERT_EQ(words_of(fast, text), words_of(slow, text)) << pattern << ": " << text;
    SplitBy other = split;
    other.behavior = SplitBehavior::removed;
    EXPECT_FALSE(find_digit_groups(other));
  }
}

}  // namespace
}  // namespace tril
