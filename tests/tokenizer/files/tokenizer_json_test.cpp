// tokenizer.json: ids, pieces and text equal to Hugging Face's library, and damaged files.
#include "tokenizer/files/tokenizer_json.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "format/sentencepiece_file.h"
#include "support/golden_tokenizers.h"
#include "support/rounds.h"
#include "support/temporary.h"
#include "tokenizer/pipeline/regex.h"
#include "tokenizer/pipeline/word_patterns.h"

namespace tril::tokenizer_json_test {
namespace {

using test::golden_directory, test::parsed;
using Ids = std::vector<std::int32_t>;

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

// Synthetic text in many scripts (make_tokenizer_cases.py).
class ManyScripts : public testing::TestWithParam<const char*> {};

TEST_P(ManyScripts, IdsAndTextAreThoseOfHuggingFace) {
  const std::string directory = test::test_dir() + "/tokenizer/files/tokenizer_cases/" + GetParam();
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

// The functions for well-known patterns against the regular expressions that they replace.
TEST(WordPatterns, CutAsTheRegularExpressionsDo) {
  const std::vector<std::string> parts = {"a",      "Z",      "\u00e9",     "\u0436", "\u4e16", "\u0301",  "1",
                                          "\u0663", "\u00bd", "'",          "'s",     "'LL",    "'\u017f", "'re",
                                          " ",      "  ",     "\t",         "\n",     "\r\n",   "\u00a0",  "\u3000",
                                          "!",      "\u2014", "\U0001f600", "\u200b", "_",      "\u0085",  "x"};
  for (std::string_view pattern : {gpt2_pattern, llama3_pattern, qwen2_pattern}) {
    const Regex regex(pattern, "pattern");
    const EndOfWord end_of_word = find_word_pattern(pattern);
    ASSERT_NE(end_of_word, nullptr);
    test::rounds(3000, [&](RandomSequence& random) {
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
    });
  }
}

// ---- Untrusted files

nlohmann::json small_file() {
  return {{"version", "1.0"},
          {"added_tokens", nlohmann::json::array()},
          {"normalizer", nullptr},
          {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}}},
          {"post_processor", nullptr},
          {"decoder", {{"type", "ByteLevel"}}},
          {"model", {{"type", "BPE"}, {"vocab", {{"a", 0}, {"b", 1}, {"ab", 2}}}, {"merges", {"a b"}}}}};
}

// As in transformers 5.
TEST(TokenizerJson, APostProcessorGoesBeforeWhatTheConfigurationAdds) {
  const nlohmann::json config{{"bos_token", "a"}, {"eos_token", "b"}, {"add_bos_token", true}, {"add_eos_token", true}};
  const auto frame = [&](const nlohmann::json& post_processor) {
    const TemporaryDirectory directory;
    nlohmann::json file = small_file();
    file["post_processor"] = post_processor;
    std::ofstream(directory.path("tokenizer.json")) << file.dump();
    std::ofstream(directory.path("tokenizer_config.json")) << config.dump();
    return load_tokenizer(directory.path())->frame(Side::target);
  };
  EXPECT_EQ(frame(nullptr).prefix, Ids{0});
  EXPECT_EQ(frame(nullptr).suffix, Ids{1});
  const nlohmann::json only_end{
      {"type", "TemplateProcessing"},
      {"single", {{{"Sequence", {{"id", "A"}, {"type_id", 0}}}}, {{"SpecialToken", {{"id", "ab"}, {"type_id", 0}}}}}},
      {"special_tokens", {{"ab", {{"id", "ab"}, {"ids", {2}}, {"tokens", {"ab"}}}}}}};
  EXPECT_EQ(frame(only_end).prefix, Ids{});
  EXPECT_EQ(frame(only_end).suffix, Ids{2});
}

TEST(TokenizerJson, TokensOfTheConfigurationBehindTheVocabularyAreAddedAsFarAsTheModelHasRows) {
  const TemporaryDirectory directory;
  nlohmann::json config;
  config["added_tokens_decoder"]["2"] = {{"content", "ab"}};
  config["added_tokens_decoder"]["4"] = {{"content", "<pad>"}, {"special", true}};
  config["added_tokens_decoder"]["3"] = {{"content", "<end>"}, {"special", true}};
  std::ofstream(directory.path("tokenizer.json")) << small_file().dump();
  std::ofstream(directory.path("tokenizer_config.json")) << config.dump();
  EXPECT_EQ(load_tokenizer(directory.path())->encode("ab<end>a<pad>"), (Ids{2, 3, 0, 4}));
  std::ofstream(directory.path("config.json")) << R"({"vocab_size": 4})";
  const auto tokenizer = load_tokenizer(directory.path());
  EXPECT_EQ(tokenizer->encode("ab<end>"), (Ids{2, 3}));
  EXPECT_EQ(tokenizer->size(Side::target), 4);
}

// A published directory may have tokenizer.json as its only tokenizer file.
TEST(TokenizerJson, IdsThatOnlyTheModelsFilesNameAreTaken) {
  const TemporaryDirectory directory;
  const nlohmann::json file = parsed(golden_directory("unigram_t5") + "/tokenizer.json");
  directory.write("tokenizer.json", file.dump());
  const auto ids = [&] { return load_tokenizer(directory.path())->special(Side::source); };
  EXPECT_EQ(ids().eos, -1);
  EXPECT_EQ(ids().unk, file["model"]["unk_id"].get<std::int32_t>());
  directory.write("config.json", R"({"model_type": "t5", "eos_token_id": 5, "pad_token_id": 0, "bos_token_id": 7})");
  EXPECT_EQ(ids().eos, 5);
  EXPECT_EQ(ids().bos, 7);
  EXPECT_EQ(ids().pad, 0);
  directory.write("generation_config.json", R"({"eos_token_id": [1, 5], "pad_token_id": null})");
  EXPECT_EQ(ids().eos, 1) << "generation_config.json goes before, and the first of a list ends a text";
  EXPECT_EQ(ids().pad, 0);
  const auto t = load_tokenizer(directory.path());
  const std::string end = t->piece(1, Side::source);
  EXPECT_EQ(t->encode("x" + end).back(), 1);
  const TemporaryDirectory saved;
  save_tokenizer(*t, saved.path());
  EXPECT_EQ(load_tokenizer(saved.path())->special(Side::source).eos, -1) << "its files stay as they are";
  directory.write("generation_config.json", R"({"eos_token_id": 1000000})");
  EXPECT_EQ(ids().eos, -1) << "no piece of the vocabulary";
  directory.write("generation_config.json", R"({"eos_token_id": 1})");
  // If the tokenizer has a configuration, that counts; an end token that it does not name is still known.
  directory.write("tokenizer_config.json", nlohmann::json({{"eos_token", t->piece(9, Side::source)}}).dump());
  EXPECT_EQ(ids().eos, 9);
  EXPECT_EQ(ids().bos, -1);
  directory.write("tokenizer_config.json", "{}");
  EXPECT_EQ(ids().eos, 1);
  EXPECT_EQ(ids().bos, -1);
  for (const char* broken :
       {"[]", "{", R"({"eos_token_id": "1"})", R"({"eos_token_id": -3})", R"({"eos_token_id": []})"}) {
    directory.write("generation_config.json", broken);  // their own reader reports it
    EXPECT_EQ(ids().eos, 5) << broken;
  }
}

TEST(TokenizerJson, M2M100sLanguagesAreFoundByTheirTokens) {
  const TemporaryDirectory directory;
  nlohmann::json file = small_file();
  for (const auto& [text, id] : {std::pair("de", 3), {"en", 4}, {"__en__", 5}, {"__de__", 6}, {"</s>", 7}})
    file["added_tokens"].push_back({{"content", text}, {"id", id}, {"special", true}});
  std::ofstream(directory.path("tokenizer.json")) << file.dump();
  std::ofstream(directory.path("tokenizer_config.json"))
      << R"({"tokenizer_class": "M2M100Tokenizer", "eos_token": "</s>", "tgt_lang": "de"})";
  const auto tokenizer = load_tokenizer(directory.path());
  EXPECT_EQ(tokenizer->languages(), (std::vector<std::string>{"de", "en"}));
  EXPECT_EQ(tokenizer->language_id("de"), 6);
  EXPECT_EQ(tokenizer->frame(Side::source).prefix, Ids{5});
  EXPECT_EQ(tokenizer->frame(Side::target).prefix, Ids{6});
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
               "not a valid regular expression"));
  EXPECT_TRUE(contains(with("model", {{"type", "BPE"}, {"vocab", {{"a", 0}}}, {"merges", {"a b"}}}), "lacks"));
  EXPECT_TRUE(contains(with("model", {{"type", "BPE"}, {"vocab", {{"a", -1}}}, {"merges", nlohmann::json::array()}}),
                       "is not an id"));
  EXPECT_TRUE(contains(
      with("model", {{"type", "BPE"}, {"vocab", {{"a", 99'000'000}}}, {"merges", nlohmann::json::array()}}), "id"));
  nlohmann::json deep = {{"type", "NFC"}};
  for (int i = 0; i < 40; ++i) deep = {{"type", "Sequence"}, {"normalizers", {deep}}};
  EXPECT_NE(with("normalizer", deep), "");
  EXPECT_NE(error_of([] { read_tokenizer_json(std::string(100'000, '['), "file"); }), "");
}

// Each of these steps makes about twice as much of a text, and forty of them would fill any memory.
TEST(TokenizerJson, StepsThatMultiplyATextAreRefused) {
  const nlohmann::json letters = {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}},
                       twice = {{"type", "Replace"}, {"pattern", {{"String", "a"}}}, {"content", "aa"}},
                       between = {{"type", "Replace"}, {"pattern", {{"Regex", ""}}}, {"content", "a"}},
                       long_one = {
                           {"type", "Replace"}, {"pattern", {{"String", "a"}}}, {"content", std::string(1000, 'a')}};
  const auto fault = [](const char* key, const char* list, const std::vector<nlohmann::json>& steps, int times) {
    nlohmann::json file = small_file();
    file["decoder"] = nullptr;
    file[key] = {{"type", "Sequence"}, {list, nlohmann::json::array()}};
    for (int i = 0; i < times; ++i)
      for (const nlohmann::json& step : steps) file[key][list].push_back(step);
    return error_of([&] {
      const auto tokenizer = make_pipeline_tokenizer(read_tokenizer_json(file.dump(), "file"), {.where = "file"});
      const Ids ids = tokenizer->encode("a\u00e9a");
      EXPECT_LE(tokenizer->decode(ids).size(), 1000u);
    });
  };
  for (const nlohmann::json& step : {letters, twice, between}) {
    EXPECT_EQ(fault("normalizer", "normalizers", {step}, 4), "") << step;
    EXPECT_TRUE(contains(fault("normalizer", "normalizers", {step}, 40), "the normalizers make more than")) << step;
  }
  const nlohmann::json characters = {{"type", "FixedLength"}, {"length", 1}},
                       spaces = {{"type", "ByteLevel"}, {"add_prefix_space", true}, {"use_regex", false}};
  for (const std::vector<nlohmann::json>& steps : {std::vector{letters}, std::vector{characters, spaces}}) {
    EXPECT_EQ(fault("pre_tokenizer", "pretokenizers", steps, 4), "") << steps[0];
    EXPECT_TRUE(contains(fault("pre_tokenizer", "pretokenizers", steps, 40), "the pre-tokenizers make more than"))
        << steps[0];
  }
  for (const nlohmann::json& step : {twice, between}) {
    EXPECT_EQ(fault("decoder", "decoders", {step}, 4), "") << step;
    EXPECT_TRUE(contains(fault("decoder", "decoders", {step}, 40), "the decoders make more than")) << step;
  }
  EXPECT_TRUE(contains(fault("normalizer", "normalizers", {long_one}, 3), "file: the normalizers make more than"));
}

// Pre-tokenizers call each other: a hundred thousand of them overflowed the stack.
TEST(TokenizerJson, NumbersOfStepsAreLimited) {
  const auto with = [](std::size_t steps) {
    nlohmann::json file = small_file();
    file["pre_tokenizer"] = {{"type", "Sequence"},
                             {"pretokenizers", std::vector<nlohmann::json>(steps, {{"type", "WhitespaceSplit"}})}};
    return error_of([&] { make_pipeline_tokenizer(read_tokenizer_json(file.dump(), "file"), {})->encode("ab a"); });
  };
  EXPECT_EQ(with(256), "");
  EXPECT_TRUE(contains(with(257), "pre_tokenizer.pretokenizers[256]: is step 257; at most 256 are supported"));
}

// A damaged file is an error, or gives a working tokenizer.
TEST(TokenizerJson, DamagedFilesAreErrorsOrTokenizers) {
  const std::string sample = "Hello, W\u00f6rld! 123\n\u4e16\u754c <s> \U0001f600  x";
  std::uint64_t files = 0, worked = 0;
  for (const char* name : {"bpe_metaspace", "bytelevel_llama3", "unigram_t5"}) {
    nlohmann::json json = parsed(golden_directory(name) + "/tokenizer.json");
    for (const char* key : {"vocab", "merges"})  // a small one, so that damage hits the important parts
      if (nlohmann::json& list = json["model"][key]; list.is_array() && list.size() > 30)
        list.erase(list.begin() + 30, list.end());
    const std::string source = json.dump();
    files += test::rounds(150, [&](RandomSequence& random) {
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
    });
  }
  EXPECT_GT(worked, files / 45);
}

}  // namespace
}  // namespace tril::tokenizer_json_test
