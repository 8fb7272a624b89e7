// tokenizer.json: ids, pieces and text as Hugging Face's library has them, and files that are damaged.
#include "text/tokenizer_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/rng.h"
#include "support/paths.h"
#include "text/regex.h"
#include "text/sentencepiece_file.h"
#include "text/temporary.h"
#include "text/word_patterns.h"

namespace tril {
namespace {

using Ids = std::vector<std::int32_t>;

std::string golden_directory(const std::string& name) {
  return test::test_dir() + "/golden/hf/tokenizers/" + name;
}

nlohmann::json parsed(const std::string& path) {
  return nlohmann::json::parse(read_text(path, 1 << 28));
}

std::vector<std::string> pieces_of(const Tokenizer& tokenizer, const Ids& ids) {
  std::vector<std::string> pieces;
  for (std::int32_t id : ids) pieces.push_back(tokenizer.piece(id, Side::source));
  return pieces;
}

Ids framed(const Tokenizer& tokenizer, const std::string& text) {
  const TextFrame frame = tokenizer.frame(Side::source, "");
  Ids ids = frame.prefix;
  tokenizer.encode(text, Side::source, ids);
  ids.insert(ids.end(), frame.suffix.begin(), frame.suffix.end());
  return ids;
}

class GoldenTokenizer : public testing::TestWithParam<const char*> {};

TEST_P(GoldenTokenizer, IdsPiecesAndTextAreThoseOfHuggingFace) {
  const std::string directory = golden_directory(GetParam());
  const auto tokenizer = load_tokenizer(directory);
  const auto again = make_pipeline_tokenizer(
      read_tokenizer_json(tokenizer_json(read_tokenizer_json(read_text(directory + "/tokenizer.json", 1 << 28), "a")),
                          "b"),
      {});
  int compared = 0;
  for (const auto& c : parsed(directory + "/cases.json")) {
    const auto text = c["text"].get<std::string>();
    const auto ids = c["ids"].get<Ids>();
    EXPECT_EQ(framed(*tokenizer, text), ids) << text;
    EXPECT_EQ(framed(*again, text), ids) << "written and read again: " << text;
    EXPECT_EQ(pieces_of(*tokenizer, ids), c["tokens"].get<std::vector<std::string>>()) << text;
    EXPECT_EQ(tokenizer->decode(ids), c["decoded"].get<std::string>()) << text;
    ++compared;
  }
  EXPECT_GT(compared, 50);
}

INSTANTIATE_TEST_SUITE_P(All, GoldenTokenizer,
                         testing::Values("bytelevel_gpt2", "bytelevel_llama3", "bytelevel_qwen2", "bpe_llama2",
                                         "bpe_metaspace", "unigram_t5"),
                         [](const auto& one) { return std::string(one.param); });

class GoldenSentencePiece : public testing::TestWithParam<const char*> {};

TEST_P(GoldenSentencePiece, IdsPiecesAndTextAreThoseOfTheLibrary) {
  const std::string directory = golden_directory(GetParam());
  TokenizerParts parts;
  parts.model = SentencePieceParts{read_sentencepiece_file(read_text(directory + "/spm.model", 1 << 28)), {}};
  const auto tokenizer = make_pipeline_tokenizer(std::move(parts), {});
  int compared = 0;
  for (const auto& c : parsed(directory + "/cases.json")) {
    const auto text = c["text"].get<std::string>();
    const auto ids = c["ids"].get<Ids>();
    EXPECT_EQ(tokenizer->encode(text), ids) << text;
    ++compared;
  }
  EXPECT_GT(compared, 50);
}

INSTANTIATE_TEST_SUITE_P(Both, GoldenSentencePiece, testing::Values("spm_bpe", "spm_unigram"),
                         [](const auto& one) { return std::string(one.param); });

// Generated text of many scripts (make_tokenizer_cases.py).
class ManyScripts : public testing::TestWithParam<const char*> {};

TEST_P(ManyScripts, IdsAndTextAreThoseOfHuggingFace) {
  const std::string directory = test::test_dir() + "/text/tokenizer_cases/" + GetParam();
  const auto tokenizer = load_tokenizer(directory);
  int compared = 0;
  for (const auto& c : parsed(directory + "/cases.json")) {
    const auto text = c["text"].get<std::string>();
    EXPECT_EQ(tokenizer->encode(text), c["ids"].get<Ids>()) << text;
    EXPECT_EQ(tokenizer->encode(text), c["ids"].get<Ids>()) << "with words that it has seen: " << text;
    EXPECT_EQ(tokenizer->decode(c["ids"].get<Ids>()), c["decoded"].get<std::string>()) << text;
    ++compared;
  }
  EXPECT_EQ(compared, 40);
}

INSTANTIATE_TEST_SUITE_P(All, ManyScripts,
                         testing::Values("o200k", "metaspace", "unigram_nfkd", "bert", "falcon", "added", "word_level"),
                         [](const auto& one) { return std::string(one.param); });

// The functions for well-known patterns against the regular expressions that they stand for.
TEST(WordPatterns, CutAsTheRegularExpressionsDo) {
  const std::vector<std::string> parts = {"a",      "Z",      "\u00e9",     "\u0436", "\u4e16", "\u0301",  "1",
                                          "\u0663", "\u00bd", "'",          "'s",     "'LL",    "'\u017f", "'re",
                                          " ",      "  ",     "\t",         "\n",     "\r\n",   "\u00a0",  "\u3000",
                                          "!",      "\u2014", "\U0001f600", "\u200b", "_",      "\u0085",  "x"};
  RandomSequence random(11, 3);
  for (std::string_view pattern : {gpt2_pattern, llama3_pattern, qwen2_pattern}) {
    const Regex regex(pattern, "pattern");
    const EndOfWord end_of_word = find_word_pattern(pattern);
    ASSERT_NE(end_of_word, nullptr);
    for (int round = 0; round < 3000; ++round) {
      std::string text;
      for (std::uint64_t n = random.below(12) + 1; n > 0; --n) text += parts[random.below(parts.size())];
      std::vector<std::pair<std::size_t, std::size_t>> expected, words;
      regex.find_all(text, expected);
      for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = end_of_word(CharacterKinds::table(), text, at);
        words.emplace_back(at, end);
        at = end;
      }
      ASSERT_EQ(words, expected) << pattern << ": " << nlohmann::json(text).dump();
    }
  }
}

// ---- Files from anywhere

nlohmann::json small_file() {
  return {{"version", "1.0"},
          {"added_tokens", nlohmann::json::array()},
          {"normalizer", nullptr},
          {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}}},
          {"post_processor", nullptr},
          {"decoder", {{"type", "ByteLevel"}}},
          {"model", {{"type", "BPE"}, {"vocab", {{"a", 0}, {"b", 1}, {"ab", 2}}}, {"merges", {"a b"}}}}};
}

std::string refusal(const nlohmann::json& json) {
  return error_of([&] { make_pipeline_tokenizer(read_tokenizer_json(json.dump(), "file"), {}); });
}

TEST(TokenizerJson, WhatIsNotSupportedIsRefusedByName) {
  EXPECT_EQ(refusal(small_file()), "");
  const auto with = [](const char* key, nlohmann::json value) {
    nlohmann::json file = small_file();
    file[key] = std::move(value);
    return refusal(file);
  };
  EXPECT_TRUE(
      contains(with("normalizer", {{"type", "Transliterate"}}), "normalizer \"Transliterate\" is not supported"));
  EXPECT_TRUE(contains(with("pre_tokenizer", {{"type", "UnicodeScripts"}}), "\"UnicodeScripts\" is not supported"));
  EXPECT_TRUE(contains(with("decoder", {{"type", "CTC"}}), "decoder \"CTC\" is not supported"));
  EXPECT_TRUE(contains(with("post_processor", {{"type", "Other"}}), "\"Other\" is not supported"));
  EXPECT_TRUE(contains(with("model", {{"type", "Neural"}}), "model \"Neural\" is not supported"));
  EXPECT_TRUE(contains(with("version", "2.0"), "2.0"));
  EXPECT_TRUE(
      contains(with("pre_tokenizer", {{"type", "Split"}, {"pattern", {{"Regex", "(a"}}}, {"behavior", "Isolated"}}),
               "no regular expression"));
  EXPECT_TRUE(contains(with("model", {{"type", "BPE"}, {"vocab", {{"a", 0}}}, {"merges", {"a b"}}}), "lacks"));
  EXPECT_TRUE(
      contains(with("model", {{"type", "BPE"}, {"vocab", {{"a", -1}}}, {"merges", nlohmann::json::array()}}), "no id"));
  EXPECT_TRUE(contains(
      with("model", {{"type", "BPE"}, {"vocab", {{"a", 99'000'000}}}, {"merges", nlohmann::json::array()}}), "id"));
  nlohmann::json deep = {{"type", "NFC"}};
  for (int i = 0; i < 40; ++i) deep = {{"type", "Sequence"}, {"normalizers", {deep}}};
  EXPECT_NE(with("normalizer", deep), "");
  EXPECT_NE(error_of([] { read_tokenizer_json(std::string(100'000, '['), "file"); }), "");
}

// A file with damage is an error, or a tokenizer that works.
TEST(TokenizerJson, DamagedFilesAreErrorsOrTokenizers) {
  RandomSequence random(5, 5);
  const std::string sample = "Hello, W\u00f6rld! 123\n\u4e16\u754c <s> \U0001f600  x";
  int worked = 0;
  for (const char* name : {"bpe_metaspace", "bytelevel_llama3", "unigram_t5"}) {
    nlohmann::json json = parsed(golden_directory(name) + "/tokenizer.json");
    for (const char* key : {"vocab", "merges"})  // a small one, so that damage hits what matters
      if (nlohmann::json& list = json["model"][key]; list.is_array() && list.size() > 30)
        list.erase(list.begin() + 30, list.end());
    const std::string source = json.dump();
    for (int round = 0; round < 150; ++round) {
      std::string damaged = source;
      for (std::uint64_t n = random.below(3) + 1; n > 0; --n) {
        const std::size_t at = random.below(damaged.size());
        switch (random.below(3)) {
          case 0:
            damaged[at] = static_cast<char>(random.below(256));
            break;
          case 1:
            damaged.erase(at, random.below(8) + 1);
            break;
          default:
            damaged.insert(at, damaged.substr(random.below(damaged.size()), random.below(40)));
        }
      }
      try {
        const auto tokenizer = make_pipeline_tokenizer(read_tokenizer_json(damaged, "file"), {});
        tokenizer->decode(tokenizer->encode(sample));
        ++worked;
      } catch (const Error&) {
      }
    }
  }
  EXPECT_GT(worked, 10);
}

}  // namespace
}  // namespace tril
