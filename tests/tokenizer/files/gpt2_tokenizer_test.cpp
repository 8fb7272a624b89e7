// GPT-2's tokenizer: ids and text equal to Hugging Face's, vocabularies of characters, and lossless decoding.
#include "tokenizer/files/gpt2_tokenizer.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/paths.h"
#include "support/temporary.h"
#include "tokenizer/pipeline/word_patterns.h"

namespace tril {
namespace {

using Ids = std::vector<std::int32_t>;

nlohmann::json golden(const std::string& name) {
  std::ifstream file(test::test_dir() + "/golden/hf/tokenizers/bytelevel_gpt2/" + name);
  return nlohmann::json::parse(file);
}

// The golden tokenizer.json as the two files of GPT-2's directories.
std::shared_ptr<const Tokenizer> golden_tokenizer(const TemporaryDirectory& dir) {
  const nlohmann::json json = golden("tokenizer.json");
  nlohmann::json vocab = json["model"]["vocab"];
  for (const auto& added : json["added_tokens"]) vocab[added["content"].get<std::string>()] = added["id"];
  std::string merges = "#version: 0.2\n";
  for (const auto& pair : json["model"]["merges"])
    merges += pair[0].get<std::string>() + " " + pair[1].get<std::string>() + "\n";
  dir.write("vocab.json", vocab.dump());
  dir.write("merges.txt", merges);
  return load_tokenizer(dir.path());
}

TEST(Gpt2Tokenizer, IdsAndTextAreThoseOfHuggingFace) {
  const TemporaryDirectory dir;
  const auto tokenizer = golden_tokenizer(dir);
  int compared = 0;
  for (const auto& c : golden("cases.json")) {
    const auto text = c["text"].get<std::string>();
    if (contains(text, "<mask>")) continue;  // an added token of tokenizer.json, which the two files cannot express
    EXPECT_EQ(tokenizer->encode(text), c["ids"].get<Ids>()) << text;
    EXPECT_EQ(tokenizer->decode(c["ids"].get<Ids>()), c["decoded"].get<std::string>()) << text;
    ++compared;
  }
  EXPECT_GT(compared, 50);
}

TEST(Gpt2Tokenizer, CharactersAreTokensAndEveryTextComesBack) {
  const std::string text = "To be,  or not\n\n\tto be: d\u00e9j\u00e0 \u4e16\u754c \U0001f600\r\n ";
  const auto tokenizer = make_character_tokenizer(text, 64);
  const Ids ids = tokenizer->encode(text);
  EXPECT_EQ(ids.size(), 36u) << "one for each character";
  EXPECT_EQ(tokenizer->decode(ids), text);
  EXPECT_EQ(tokenizer->encode("\u4e16").size(), 1u);
  const std::int32_t end = tokenizer->special(Side::target).eos;
  EXPECT_EQ(end, tokenizer->size(Side::target) - 1);
  EXPECT_EQ(tokenizer->encode("be<|endoftext|>to").at(2), end);
  EXPECT_EQ(tokenizer->encode("x\u00fc"), (Ids{end, end})) << "what does not occur is one token for a character";
}

TEST(Gpt2Tokenizer, AsciiCharactersAreNumberedInTheirOrder) {
  const auto tokenizer = make_character_tokenizer("cab\n", 8);
  EXPECT_EQ(tokenizer->size(Side::target), 5);
  EXPECT_EQ(tokenizer->encode("\nabc"), (Ids{0, 1, 2, 3}));
}

TEST(Gpt2Tokenizer, FilesMakeTheSameTokenizerAgain) {
  const TemporaryDirectory dir;
  const std::string text = "a \u00e9\u4e16\n b";
  const auto tokenizer = make_character_tokenizer(text, 64);
  save_tokenizer(*tokenizer, dir.path());
  const auto again = load_tokenizer(dir.path());
  EXPECT_EQ(again->encode(text), tokenizer->encode(text));
  EXPECT_EQ(again->special(Side::target), tokenizer->special(Side::target));
  EXPECT_EQ(again->model_max_length(), 64);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(again->files()[i].bytes, tokenizer->files()[i].bytes);
}

TEST(Gpt2Tokenizer, BytesThatAreNoCharacterDecodeToTheReplacement) {
  const auto tokenizer = make_character_tokenizer("a\u4e16", 64);
  const auto first = tokenizer->find(gpt2_letters("\xe4"), Side::target);
  ASSERT_TRUE(first);
  EXPECT_EQ(tokenizer->decode(Ids{*first, 0}), "\ufffda");
  EXPECT_THROW(tokenizer->decode(Ids{99}), Error);
}

TEST(Gpt2Tokenizer, ALongRunIsCutInNoTime) {
  const TemporaryDirectory dir;
  const auto tokenizer = golden_tokenizer(dir);
  const std::string run(1 << 20, ' '), letters(1 << 20, 'e');
  EXPECT_EQ(tokenizer->decode(tokenizer->encode(run)), run);
  EXPECT_EQ(tokenizer->decode(tokenizer->encode(letters)), letters);
}

TEST(Gpt2Tokenizer, WhatNoFileOfItSaysTheModelsFilesDo) {
  const TemporaryDirectory dir;
  golden_tokenizer(dir);
  const auto t = load_tokenizer(dir.path());
  const std::int32_t end = t->special(Side::source).eos;
  dir.write("config.json", R"({"model_type": "opt", "eos_token_id": 3, "bos_token_id": 4, "pad_token_id": 5})");
  const SpecialIds ids = load_tokenizer(dir.path())->special(Side::source);
  EXPECT_EQ(ids.eos, 3);
  EXPECT_EQ(ids.bos, 4);
  EXPECT_EQ(ids.pad, 5);
  EXPECT_NE(end, 3);
  dir.write("config.json", R"({"model_type": "qwen2"})");
  EXPECT_EQ(load_tokenizer(dir.path())->encode("e\u0301"), t->encode("\u00e9")) << "Qwen 2's has normal form C";
}

TEST(Gpt2Tokenizer, DamagedFilesAreErrorsThatNameThem) {
  const TemporaryDirectory dir;
  golden_tokenizer(dir);
  const auto says = [&](const std::string& part) {
    const std::string text = error_of([&] { load_tokenizer(dir.path()); });
    EXPECT_TRUE(contains(text, part)) << text;
  };
  dir.write("merges.txt", "#version: 0.2\na b\nc\n");
  says("merges.txt: line 3");
  dir.write("merges.txt", "a qqq\n");
  says("names a piece that the vocabulary lacks");
  dir.write("merges.txt", "");
  dir.write("tokenizer_config.json", R"({"tokenizer_class": "CLIPTokenizer"})");
  says("CLIPTokenizer");
  dir.write("tokenizer_config.json", "[]");
  says("tokenizer_config.json");
}

TEST(Gpt2Pattern, CutsWords) {
  const auto words = [](std::string_view text) {
    std::vector<std::string> list;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = end_of_gpt2_word(CharacterKinds::table(), text, at);
      list.emplace_back(text.substr(at, end - at));
      at = end;
    }
    return list;
  };
  using Words = std::vector<std::string>;
  EXPECT_EQ(words("I'll go,  now 12x"), (Words{"I", "'ll", " go", ",", " ", " now", " 12", "x"}));
  EXPECT_EQ(words("a\n\nb \n"), (Words{"a", "\n", "\n", "b", " \n"}));
  EXPECT_EQ(words("a\xff\xfe b"), (Words{"a", "\xff\xfe", " b"})) << "bytes that are no UTF-8";
  EXPECT_EQ(words("  "), (Words{"  "}));
}

}  // namespace
}  // namespace tril
