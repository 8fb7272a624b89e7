// Vocabularies of GGUF files other than llama and gpt2: t5, bert and gemma4 tokenize the golden cases like the
// libraries that they come from.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/rng.h"
#include "format/gguf_write.h"
#include "support/any_tokenizer.h"
#include "support/golden_tokenizers.h"
#include "support/paths.h"
#include "support/temporary.h"
#include "tokenizer/files/gguf_vocabulary.h"
#include "tokenizer/files/tokenizer.h"

namespace tril {
namespace {

using test::golden_directory;
using Ids = std::vector<std::int32_t>;
using Json = nlohmann::json;

struct TokenLists {
  std::vector<std::string> texts;
  std::vector<std::int32_t> types;
  std::vector<float> scores;

  void put(std::string text, PieceType type, float score = 0) {
    texts.push_back(std::move(text));
    types.push_back(static_cast<std::int32_t>(type));
    scores.push_back(score);
  }
  GgufMetadata begin(const char* kind) const {
    GgufMetadata m;
    m.add("tokenizer.ggml.model", kind);
    m.add("tokenizer.ggml.tokens", texts);
    m.add("tokenizer.ggml.token_type", types);
    return m;
  }
};

std::shared_ptr<const Tokenizer> load(const TemporaryDirectory& directory, const GgufMetadata& m) {
  GgufWriter(directory.path("v.gguf"), {}, m).commit();
  return test::tokenizer_at(directory.path("v.gguf"));
}

// tests/golden/hf/tokenizers/spm_unigram, with ids of the SentencePiece library.
TEST(GgufT5, IdsAreThoseOfSentencePiece) {
  const SentencePieceFile model =
      read_sentencepiece_file(read_text(golden_directory("spm_unigram") + "/spm.model", 1 << 28));
  TokenLists tokens;
  std::uint32_t unknown = 0;
  for (const SentencePieceEntry& p : model.pieces) {
    if (p.type == PieceType::unknown) unknown = static_cast<std::uint32_t>(tokens.texts.size());
    tokens.put(p.text, p.type, p.score);
  }
  const auto sentinel = static_cast<std::int32_t>(tokens.texts.size());
  tokens.put("<extra_id_0>", PieceType::control);
  GgufMetadata m = tokens.begin("t5");
  m.add("tokenizer.ggml.scores", tokens.scores);
  m.add("tokenizer.ggml.unknown_token_id", unknown);
  m.add("tokenizer.ggml.add_space_prefix", model.add_dummy_prefix);
  m.add("tokenizer.ggml.remove_extra_whitespaces", model.remove_extra_whitespaces);
  m.add_bytes("tokenizer.ggml.precompiled_charsmap", model.character_map);
  ASSERT_FALSE(model.character_map.empty());
  const TemporaryDirectory directory;
  const auto t = load(directory, m);
  int compared = 0;
  for (const auto& c : Json::parse(read_text(golden_directory("spm_unigram") + "/cases.json", 1 << 28))) {
    const auto text = c["text"].get<std::string>();
    if (contains(text, "<")) continue;  // might spell a special token
    EXPECT_EQ(t->encode(text), c["ids"].get<Ids>()) << text;
    ++compared;
  }
  EXPECT_GT(compared, 40);
  EXPECT_EQ(t->encode("<extra_id_0>"), Ids{sentinel});
  EXPECT_EQ(t->decode(t->encode("Hello there.")), "Hello there.");
  EXPECT_EQ(t->frame(Side::source).suffix, Ids{1});  // llama.cpp's default for a missing key
  EXPECT_TRUE(t->frame(Side::source).prefix.empty());
  m.add("tokenizer.ggml.eos_token_id", std::uint32_t{2});
  m.add("tokenizer.ggml.add_eos_token", false);
  const auto bare = load(directory, m);
  EXPECT_EQ(bare->special(Side::source).eos, 2);
  EXPECT_TRUE(bare->frame(Side::source).suffix.empty());
}

// tests/tokenizer/files/tokenizer_cases/bert, with ids of the tokenizers library.
TEST(GgufBert, IdsAreThoseOfTheTokenizersLibrary) {
  const std::string folder = test::test_dir() + "/tokenizer/files/tokenizer_cases/bert";
  const Json json = Json::parse(read_text(folder + "/tokenizer.json", 1 << 28));
  const auto vocab = json["model"]["vocab"].get<std::map<std::string, std::size_t>>();
  std::vector<std::string> texts(vocab.size());
  for (const auto& [text, id] : vocab) texts[id] = text;
  TokenLists tokens;
  for (const std::string& text : texts) {  // in the form of llama.cpp's converter
    const bool control = text.starts_with("[") && text.ends_with("]") && text.size() > 2;
    tokens.put(control                  ? text
               : text.starts_with("##") ? text.substr(2)
                                        : "\u2581" + text,
               control ? PieceType::control : PieceType::normal);
  }
  GgufMetadata m = tokens.begin("bert");
  for (const auto& [key, text] : {std::pair{"bos", "[CLS]"}, {"seperator", "[SEP]"}, {"unknown", "[UNK]"}})
    m.add(std::string("tokenizer.ggml.") + key + "_token_id", static_cast<std::uint32_t>(vocab.at(text)));
  const TemporaryDirectory directory;
  const auto t = load(directory, m);
  const auto id = [&](const char* text) { return static_cast<std::int32_t>(vocab.at(text)); };
  EXPECT_EQ(t->frame(Side::source).prefix, Ids{id("[CLS]")});
  EXPECT_EQ(t->frame(Side::source).suffix, Ids{id("[SEP]")});
  int compared = 0;
  for (const auto& c : Json::parse(read_text(folder + "/cases.json", 1 << 28))) {
    const auto text = c["text"].get<std::string>();
    EXPECT_EQ(t->encode(text), c["ids"].get<Ids>()) << text;
    EXPECT_EQ(t->decode(c["ids"].get<Ids>()), c["decoded"].get<std::string>()) << text;
    ++compared;
  }
  EXPECT_EQ(compared, 40);

  GgufMetadata cased = m;
  cased.add("tokenizer.ggml.normalizer.lowercase", false);
  cased.add("tokenizer.ggml.add_sep_token", false);
  const auto u = load(directory, cased);
  EXPECT_NE(u->encode("The THE"), t->encode("The THE"));
  EXPECT_EQ(u->encode("the the"), t->encode("the the"));
  EXPECT_TRUE(u->frame(Side::source).suffix.empty());
  GgufMetadata stripped = cased;
  stripped.add("tokenizer.ggml.normalizer.strip_accents", true);
  EXPECT_EQ(load(directory, stripped)->encode("th\u00e9"), u->encode("the"));
}

// BPE of characters against a tokenizer.json of the same pieces and merges.
TEST(GgufGemma4, IdsAreThoseOfTheTokenizerJson) {
  Json json = Json::parse(read_text(golden_directory("bpe_llama2") + "/tokenizer.json", 1 << 28));
  json["normalizer"] = {{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", "\u2581"}};
  json["pre_tokenizer"] = {
      {"type", "Split"}, {"pattern", {{"String", " "}}}, {"behavior", "MergedWithPrevious"}, {"invert", false}};
  json["post_processor"] = nullptr;
  json["decoder"]["decoders"].erase(3);
  Json& vocab = json["model"]["vocab"];
  Json& merges = json["model"]["merges"];
  for (int n = 1; n <= 4; ++n) {  // runs of newlines, as in Gemma
    vocab[std::string(static_cast<std::size_t>(n), '\n')] = vocab.size();
    if (n > 1) merges.push_back({"\n", std::string(static_cast<std::size_t>(n) - 1, '\n')});
  }
  const TemporaryDirectory whole, directory, again;
  whole.write("tokenizer.json", json.dump());
  const auto expected = test::tokenizer_at(whole.path());

  std::vector<std::string> texts(vocab.size()), pairs;
  for (const auto& [text, id] : vocab.items()) texts[id.get<std::size_t>()] = text;
  for (const auto& merge : merges) pairs.push_back(merge[0].get<std::string>() + " " + merge[1].get<std::string>());
  TokenLists tokens;
  for (const std::string& text : texts)
    tokens.put(text, text == "<unk>"                               ? PieceType::unknown
                     : text == "<s>" || text == "</s>"             ? PieceType::control
                     : text.starts_with("<0x") && text.size() == 6 ? PieceType::byte
                                                                   : PieceType::normal);
  GgufMetadata m = tokens.begin("gemma4");
  m.add("tokenizer.ggml.merges", pairs);
  m.add("tokenizer.ggml.bos_token_id", std::uint32_t{1});
  m.add("tokenizer.ggml.eos_token_id", std::uint32_t{2});
  m.add("tokenizer.ggml.unknown_token_id", std::uint32_t{0});
  m.add("tokenizer.ggml.add_bos_token", false);  // ignored by llama.cpp
  const auto t = load(directory, m);
  EXPECT_EQ(t->frame(Side::source).prefix, Ids{1});
  GgufWriter(again.path("v.gguf"), {},
             gguf_vocabulary(test::described(directory.path("v.gguf")), t->size(Side::source)).metadata)
      .commit();
  const GgufFile written = GgufFile::open(again.path("v.gguf"));
  EXPECT_EQ(written.at<std::string_view>("tokenizer.ggml.model"), "gemma4");
  const auto u = test::tokenizer_at(again.path("v.gguf"));
  int compared = 0;
  for (const auto& c : Json::parse(read_text(golden_directory("bpe_llama2") + "/cases.json", 1 << 28)))
    for (const std::string& text :
         {c["text"].get<std::string>(), "a\n\n" + c["text"].get<std::string>() + "\n\n\n\n\n\nb \n"}) {
      const Ids ids = expected->encode(text);
      EXPECT_EQ(t->encode(text), ids) << text;
      EXPECT_EQ(u->encode(text), ids) << text;
      EXPECT_EQ(t->decode(ids), expected->decode(ids)) << text;
      ++compared;
    }
  EXPECT_GT(compared, 80);
  // Likewise under gpt2 with the pre-tokenizer's name, as other converters write it.
  GgufMetadata named = tokens.begin("gpt2");
  named.add("tokenizer.ggml.pre", "granite-embed-multi-311m");
  named.add("tokenizer.ggml.merges", pairs);
  named.add("tokenizer.ggml.unknown_token_id", std::uint32_t{0});
  EXPECT_EQ(load(directory, named)->encode("Hello  there,\n\nyou"), expected->encode("Hello  there,\n\nyou"));
}

// Damaged files are errors or give working tokenizers.
TEST(GgufKinds, MutatedFilesAreErrorsOrTokenizers) {
  TokenLists tokens;
  tokens.put("<unk>", PieceType::unknown);
  tokens.put("</s>", PieceType::control);
  for (const char* text : {"\u2581", "\u2581a", "a", "b", "ab", "\u4e16", "[x]", "\n"})
    tokens.put(text, PieceType::normal, -1);
  const TemporaryDirectory directory;
  const std::string path = directory.path("v.gguf");
  int accepted = 0, refused = 0;
  for (const char* kind : {"t5", "bert", "gemma4"}) {
    GgufMetadata m = tokens.begin(kind);
    m.add("tokenizer.ggml.scores", tokens.scores);
    m.add("tokenizer.ggml.unknown_token_id", std::uint32_t{0});
    m.add("tokenizer.ggml.merges", std::vector<std::string>{"a b"});
    m.add_bytes("tokenizer.ggml.precompiled_charsmap", std::string("\x04\0\0\0\0\0\0\0", 8));
    GgufWriter(path, {}, m).commit();
    const std::string whole = read_text(path, 1 << 20);
    RandomSequence random(5, 1);
    for (int i = 0; i < 300; ++i) {
      std::string bytes = whole;
      for (std::uint64_t n = 1 + random.below(3); n > 0; --n)
        bytes[random.below(bytes.size())] = static_cast<char>(random.bits());
      directory.write("v.gguf", bytes);
      try {
        const auto t = test::tokenizer_at(path);
        t->decode(t->encode("ab \u4e16 [x] b\n\n"));
        ++accepted;
      } catch (const Error&) {
        ++refused;
      }
    }
  }
  EXPECT_GT(accepted, 50);
  EXPECT_GT(refused, 200);
}

TEST(GgufKinds, WhatIsNotReadIsNamedWithAWayOut) {
  const TemporaryDirectory directory;
  TokenLists tokens;
  tokens.put("a", PieceType::normal);
  for (const char* kind : {"rwkv", "plamo2", "hybriddna", "whitespace", "replit"}) {
    const std::string error = error_of([&] { load(directory, tokens.begin(kind)); });
    EXPECT_TRUE(contains(error, std::string("the tokenizer \"") + kind + "\" is not supported")) << error;
    EXPECT_TRUE(contains(error, "tokenizer.json")) << error;
  }
  EXPECT_TRUE(contains(error_of([&] { load(directory, tokens.begin("t5")); }), "tokenizer.ggml.scores: is missing"));
  EXPECT_TRUE(contains(error_of([&] { load(directory, tokens.begin("gemma4")); }), "tokenizer.ggml.merges"));
  EXPECT_TRUE(contains(error_of([&] { load(directory, tokens.begin("bert")); }), "unknown_token_id"));
  GgufMetadata m = tokens.begin("t5");
  m.add("tokenizer.ggml.scores", tokens.scores);
  m.add("tokenizer.ggml.precompiled_charsmap", std::vector<std::int32_t>{300});
  EXPECT_TRUE(contains(error_of([&] { load(directory, m); }), "300 is not a byte"));
}

}  // namespace
}  // namespace tril
