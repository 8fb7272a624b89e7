// Vocabularies of GGUF files: a tokenizer that is written and read again tokenizes every golden case as before, and so
// does the tokenizer.json that a training directory keeps; inconsistent files are refused.
#include "tokenizer/files/gguf_vocabulary.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file.h"
#include "format/gguf_write.h"
#include "support/any_tokenizer.h"
#include "support/golden_tokenizers.h"
#include "support/paths.h"
#include "support/raw_gguf.h"
#include "support/temporary.h"
#include "tokenizer/files/gguf_pre.h"
#include "tokenizer/files/tokenizer.h"

namespace tril::gguf_vocabulary_test {
namespace {

using test::raw;
using test::raw_entry;
using test::raw_text;
using test::RawGguf;

using test::golden_directory;
using Ids = std::vector<std::int32_t>;

// A GGUF file without tensors.
std::string put(const TemporaryDirectory& directory, const GgufVocabulary& v) {
  const std::string path = directory.path("v.gguf");
  GgufWriter(path, {}, v.metadata).commit();
  return path;
}

// Checks that both encode, decode and frame every text of the cases alike.
void expect_same(const Tokenizer& a, const Tokenizer& b, const std::string& cases) {
  EXPECT_EQ(a.frame(Side::target).prefix, b.frame(Side::target).prefix);
  EXPECT_EQ(a.frame(Side::target).suffix, b.frame(Side::target).suffix);
  int compared = 0;
  for (const auto& c : nlohmann::json::parse(read_text(cases, 1 << 28))) {
    const auto text = c["text"].get<std::string>();
    if (contains(text, "<mask>")) continue;  // includes the spaces before it, which GGUF cannot express
    SCOPED_TRACE(nlohmann::json(text).dump());
    const Ids ids = b.encode(text);
    EXPECT_EQ(a.encode(text), ids);
    EXPECT_EQ(a.decode(ids), b.decode(ids));
    ++compared;
  }
  EXPECT_GT(compared, 50);
}

TEST(GgufVocabularyOfAModel, CutsAsItsMakerMeant) {
  const std::string folder = test::test_dir() + "/golden/gguf/";
  const auto expected = nlohmann::json::parse(read_text(folder + "model_q4_k.json", 1 << 20));
  const auto t = test::tokenizer_at(folder + "model_q4_k.gguf");
  Ids ids = t->frame(Side::target).prefix;
  for (const std::int32_t id : t->encode(expected["text"].get<std::string>())) ids.push_back(id);
  EXPECT_EQ(ids, expected["ids"].get<Ids>());
}

class GoldenTokenizerInGguf : public testing::TestWithParam<const char*> {};

TEST_P(GoldenTokenizerInGguf, IsTheSameThroughAFile) {
  const std::string golden = golden_directory(GetParam()), cases = golden + "/cases.json";
  const auto original = test::tokenizer_at(golden);
  const std::int32_t size = original->size(Side::target);
  const TemporaryDirectory directory;
  const std::string path = put(directory, gguf_vocabulary(test::described(golden), size + 6));
  const auto again = test::tokenizer_at(path);
  EXPECT_EQ(again->size(Side::target), size);
  expect_same(*again, *original, cases);
  EXPECT_EQ(again->special(Side::target).bos, test::described(path).settings.special.bos);

  const TemporaryDirectory saved;  // as in a training directory
  save_tokenizer(*again, saved.path());
  expect_same(*test::tokenizer_at(saved.path()), *original, cases);

  const TemporaryDirectory twice;  // a file made from a file
  expect_same(*test::tokenizer_at(put(twice, gguf_vocabulary(test::described(path), size))), *original, cases);
}

INSTANTIATE_TEST_SUITE_P(All, GoldenTokenizerInGguf,
                         testing::Values("bytelevel_gpt2", "bytelevel_llama3", "bytelevel_qwen2", "bpe_llama2"),
                         [](const auto& one) { return std::string(one.param); });

// Files of the gguf package, ids of llama.cpp: tests/golden/make_gguf_vocabulary.py.
TEST(GgufVocabulary, IdsAreThoseOfLlamaCpp) {
  const std::string folder = test::test_dir() + "/golden/gguf/";
  int compared = 0;
  const auto lists = nlohmann::json::parse(read_text(folder + "vocabularies.json", 1 << 28));
  for (const auto& [file, cases] : lists.items()) {
    const auto t = test::tokenizer_at(folder + file);
    const TextFrame frame = t->frame(Side::source);
    EXPECT_TRUE(t->chat_template());
    for (const auto& c : cases) {
      const auto text = c["text"].get<std::string>();
      SCOPED_TRACE(file + ": " + c["text"].dump());
      Ids ids = t->encode(text);
      EXPECT_EQ(ids, c["ids"].get<Ids>());
      ids.insert(ids.begin(), frame.prefix.begin(), frame.prefix.end());
      EXPECT_EQ(ids, c["ids_framed"].get<Ids>());
      EXPECT_TRUE(frame.suffix.empty());
      ++compared;
    }
  }
  EXPECT_GT(compared, 150);
}

TEST(GgufVocabulary, IsWrittenOfASentencePieceModelPieceByPiece) {
  TokenizerDescription d;
  SentencePieceParts model;
  model.file.algorithm = SubwordAlgorithm::bpe;
  model.file.remove_extra_whitespaces = false;
  model.file.pieces = {{"<unk>", 0, PieceType::unknown},
                       {"<s>", 0, PieceType::control},
                       {"</s>", 0, PieceType::control},
                       {"\u2581", -3, PieceType::normal},
                       {"a", -2, PieceType::normal},
                       {"\u2581a", -1, PieceType::normal},
                       {"\u2581\u2581", 0, PieceType::user_defined}};
  d.parts.model = model;
  d.parts.added = {{.content = "<s>", .id = 1, .special = true}};
  d.settings.special = {.pad = -1, .bos = 1, .eos = 2, .unk = 0};
  const TemporaryDirectory directory;
  const GgufFile f = GgufFile::open(put(directory, gguf_vocabulary(d, 8, {2, 1, 5})));
  using Texts = std::vector<std::string_view>;
  EXPECT_EQ(f.at<Texts>("tokenizer.ggml.tokens"),
            (Texts{"<unk>", "<s>", "</s>", "\u2581", "a", "\u2581a", "  ", "[PAD7]"}));
  EXPECT_EQ(f.at<std::vector<std::int64_t>>("tokenizer.ggml.token_type"),
            (std::vector<std::int64_t>{2, 3, 3, 1, 1, 1, 4, 5}));
  EXPECT_EQ(f.get<std::vector<double>>("tokenizer.ggml.scores")->at(4), -2);
  EXPECT_EQ(f.at<std::int64_t>("tokenizer.ggml.eos_token_id"), 2);
  EXPECT_EQ(f.at<std::int64_t>("tokenizer.ggml.eot_token_id"), 1);
  EXPECT_EQ(f.at<std::int64_t>("tokenizer.ggml.eom_token_id"), 5);
  EXPECT_FALSE(f.at<bool>("tokenizer.ggml.add_bos_token"));
}

TEST(GgufVocabulary, WhatLlamaCppHasNoKindForIsNotWritten) {
  const auto refused = [](TokenizerDescription d, const std::string& part) {
    const std::string error = error_of([&] { gguf_vocabulary(d, 1000); });
    EXPECT_TRUE(contains(error, part)) << error;
  };
  const TokenizerDescription llama3 = test::described(golden_directory("bytelevel_llama3"));
  refused(test::described(golden_directory("unigram_t5")), "neither byte-level BPE nor SentencePiece");
  TokenizerDescription d = llama3;
  d.parts.pre_tokenizers.insert(d.parts.pre_tokenizers.begin(), SplitAtSpace{});
  refused(d, "has no name in llama.cpp");
  d = llama3;
  d.parts.prefix = {500, 500};
  refused(d, "more than one token at an end of a text");
  EXPECT_TRUE(contains(error_of([&] { gguf_vocabulary(llama3, 400); }), "but the model has only 400 ids"));
  try {
    gguf_vocabulary(llama3, 400);
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::failure) << "a tokenizer of another model is no wrong request";
  }
  SentencePieceParts model;
  d = {};
  d.parts.model = model;
  refused(d, "unigram");
  model.file.algorithm = SubwordAlgorithm::bpe;
  d.parts.model = model;  // removes spaces
  refused(d, "normalizes more than spaces");
}

TEST(GgufVocabulary, SaysWhereScoresSayMoreThanAListOfMerges) {
  TokenizerDescription d = test::described(golden_directory("bpe_llama2"));
  auto& bpe = std::get<BpeParts>(d.parts.model);
  bpe.vocab = {{"<unk>", 0}, {"a", 1}, {"b", 2}, {"ab", 3}, {"ba", 4}, {"aba", 5}};
  bpe.merges = {{"a", "b"}, {"b", "a"}, {"ab", "a"}};
  d.parts.added.clear();
  d.parts.prefix.clear();
  const std::vector<std::string> warnings = gguf_vocabulary(d, 6).warnings;
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_TRUE(contains(warnings[0], "1 pair that the tokenizer's list of merges lacks (a ba)"));
  bpe.merges.emplace_back("a", "ba");
  EXPECT_TRUE(gguf_vocabulary(d, 6).warnings.empty());
}

// A SentencePiece BPE vocabulary: merges by score.
RawGguf small_spm() {
  RawGguf f;
  const std::vector<std::tuple<std::string, float, int>> tokens{
      {"<unk>", 0.f, 2},  {"<s>", 0.f, 3}, {"</s>", 0.f, 3},   {"<0x21>", 0.f, 1},   {"\u2581", -9.f, 1},
      {"a", -8.f, 1},     {"b", -7.f, 1},  {"ab", -1.f, 1},    {"\u2581a", -2.f, 1}, {"<|im_end|>", 0.f, 3},
      {"<user>", 0.f, 4}, {"ab", 0.f, 5},  {"[PAD12]", 0.f, 5}};
  std::string texts, scores, types;
  for (const auto& [text, score, type] : tokens) texts += raw_text(text), scores += raw(score), types += raw(type);
  const auto n = raw<std::uint64_t>(tokens.size());
  f.entries = {raw_entry("general.architecture", 8, raw_text("llama")),
               raw_entry("llama.context_length", 4, raw<std::uint32_t>(77)),
               raw_entry("tokenizer.ggml.model", 8, raw_text("llama")),
               raw_entry("tokenizer.ggml.tokens", 9, raw(8u) + n + texts),
               raw_entry("tokenizer.ggml.scores", 9, raw(6u) + n + scores),
               raw_entry("tokenizer.ggml.token_type", 9, raw(5u) + n + types)};
  return f;
}

TEST(GgufVocabulary, PairsMergeByScore) {
  const TemporaryDirectory directory;
  const auto t = test::tokenizer_at(directory.write("v.gguf", small_spm().bytes()));
  EXPECT_EQ(t->size(Side::target), 11);     // unused tokens do not count
  EXPECT_EQ(t->encode("ab"), (Ids{4, 7}));  // a space comes first; "ab" scores above "\u2581a"
  EXPECT_EQ(t->encode("a"), (Ids{8}));
  EXPECT_EQ(t->encode("a!"), (Ids{8, 0}));  // unknown, as not every byte has a token
  EXPECT_EQ(t->encode("b<user>a"), (Ids{4, 6, 10, 8}));
  EXPECT_EQ(t->encode("<|im_end|>"), (Ids{9}));
  EXPECT_EQ(t->decode(Ids{1, 8, 6, 9}), "ab");
  EXPECT_EQ(t->decode(Ids{8, 10, 8}), "a<user> a");
  EXPECT_EQ(t->frame(Side::source).prefix, (Ids{1}));  // llama.cpp's default for a missing key
  EXPECT_TRUE(t->frame(Side::source).suffix.empty());
  EXPECT_EQ(t->special(Side::target).eos, 2);
  EXPECT_EQ(t->model_max_length(), 77);
}

TEST(GgufVocabulary, SaysWhatStandsAroundATextAndHowToChat) {
  RawGguf f = small_spm();
  f.entries.push_back(raw_entry("tokenizer.ggml.add_bos_token", 7, raw<std::uint8_t>(0)));
  f.entries.push_back(raw_entry("tokenizer.ggml.add_eos_token", 7, raw<std::uint8_t>(1)));
  f.entries.push_back(raw_entry("tokenizer.ggml.eos_token_id", 4, raw<std::uint32_t>(9)));
  f.entries.push_back(raw_entry("tokenizer.ggml.padding_token_id", 4, raw<std::uint32_t>(12)));
  f.entries.push_back(raw_entry("tokenizer.ggml.add_space_prefix", 7, raw<std::uint8_t>(0)));
  f.entries.push_back(raw_entry("tokenizer.chat_template", 8, raw_text("{{ bos_token }}{{ messages }}")));
  f.entries.push_back(raw_entry("tokenizer.chat_template.tool_use", 8, raw_text("tools")));
  const TemporaryDirectory directory;
  const std::string path = directory.write("v.gguf", f.bytes());
  const auto t = test::tokenizer_at(path);
  EXPECT_TRUE(t->frame(Side::source).prefix.empty());
  EXPECT_EQ(t->frame(Side::source).suffix, (Ids{9}));
  EXPECT_EQ(t->encode("ab"), (Ids{7}));
  EXPECT_EQ(t->decode(Ids{7, 12}), "ab");  // padding is special, whatever type the file gives it
  ASSERT_TRUE(t->chat_template());
  EXPECT_EQ(t->chat_template(), "{{ bos_token }}{{ messages }}");
  ASSERT_TRUE(t->chat_template("tool_use"));
  EXPECT_EQ(t->chat_template("tool_use"), "tools");
  const TemporaryDirectory again;  // everything is written back too
  const auto u = test::tokenizer_at(put(again, gguf_vocabulary(test::described(path), 13)));
  EXPECT_EQ(u->frame(Side::source).suffix, (Ids{9}));
  EXPECT_EQ(u->chat_template(), t->chat_template());
  EXPECT_EQ(u->special_tokens(), t->special_tokens());
  EXPECT_EQ(u->chat_template("tool_use"), "tools");
}

TEST(GgufVocabulary, EndsForWhichThereIsNoKeyAreNamed) {
  const TemporaryDirectory directory;
  const TokenizerDescription d = test::described(directory.write("v.gguf", small_spm().bytes()));
  const auto warnings = [&](const Ids& ends) { return gguf_vocabulary(d, 13, ends).warnings; };
  EXPECT_TRUE(warnings({}).empty());
  EXPECT_TRUE(warnings({2, 9, 10, 9, 2}).empty());
  ASSERT_EQ(warnings({2, 9, 10, 7, 6}).size(), 1u);
  EXPECT_TRUE(contains(warnings({2, 9, 10, 7})[0], "7 (ab) is one too")) << warnings({2, 9, 10, 7})[0];
  EXPECT_TRUE(contains(warnings({2, 9, 10, 7, 6})[0], "7 (ab), 6 (b) are each one too"));
}

// llama.cpp has default ids for missing keys of this kind; none of them appears.
TEST(GgufVocabulary, NoneStaysNone) {
  RawGguf f = small_spm();
  for (const char* name : {"bos", "eos", "unknown"})
    f.entries.push_back(raw_entry(fmt::format("tokenizer.ggml.{}_token_id", name), 4, raw<std::uint32_t>(0xffffffff)));
  const TemporaryDirectory directory, again;
  const std::string path = directory.write("v.gguf", f.bytes());
  const std::string written = put(again, gguf_vocabulary(test::described(path), 13));
  for (const std::string& file : {path, written}) {
    const SpecialIds ids = test::described(file).settings.special;
    EXPECT_EQ((Ids{ids.bos, ids.eos, ids.unk}), (Ids{-1, -1, -1})) << file;
    EXPECT_TRUE(test::tokenizer_at(file)->frame(Side::source).prefix.empty()) << file;
  }
}

TEST(GgufVocabulary, WhatDoesNotFitIsRefused) {
  const TemporaryDirectory directory;
  const auto expect_error = [&](const RawGguf& f, const std::string& part) {
    const std::string error = error_of([&] { test::tokenizer_at(directory.write("v.gguf", f.bytes())); });
    EXPECT_TRUE(contains(error, part)) << "\"" << error << "\" should say \"" << part << "\"";
  };
  const auto with = [](std::size_t at, const std::string& entry) {
    RawGguf f = small_spm();
    f.entries[at] = entry;
    return f;
  };
  const auto one = raw<std::uint64_t>(1);
  expect_error(with(2, raw_entry("tokenizer.ggml.model", 8, raw_text("rwkv"))), "\"rwkv\" is not supported");
  expect_error(with(2, raw_entry("tokenizer.ggml.model", 8, raw_text("no_vocab"))), "has no tokenizer");
  expect_error(with(2, raw_entry("tokenizer.ggml.model", 8, raw_text("gpt2"))), "tokenizer.ggml.merges");
  expect_error(with(3, raw_entry("x", 8, raw_text(""))), "tokenizer.ggml.tokens");
  expect_error(with(3, raw_entry("tokenizer.ggml.tokens", 9, raw(8u) + one + raw_text(std::string(1025, 'a')))),
               "13 types for 1 token");
  expect_error(with(4, raw_entry("x", 8, raw_text(""))), "tokenizer.ggml.scores: is missing");
  expect_error(with(4, raw_entry("tokenizer.ggml.scores", 9, raw(6u) + one + raw(0.f))), "1 score for 13 tokens");
  expect_error(with(5, raw_entry("tokenizer.ggml.token_type", 9, raw(5u) + one + raw(1))), "1 type for 13 tokens");
  expect_error(with(5, raw_entry("tokenizer.ggml.token_type", 9, raw(5u) + one + raw(7))), "1 type for 13 tokens");
  RawGguf f = small_spm();
  f.entries.push_back(raw_entry("tokenizer.ggml.bos_token_id", 4, raw<std::uint32_t>(13)));
  expect_error(f, "13 is not a valid id");
  f = with(2, raw_entry("tokenizer.ggml.model", 8, raw_text("gpt2")));
  f.entries.push_back(raw_entry("tokenizer.ggml.merges", 9, raw(8u) + one + raw_text("ab")));
  expect_error(f, "expected two pieces, got \"ab\"");
  f.entries.push_back(raw_entry("tokenizer.ggml.pre", 8, raw_text("weird")));
  expect_error(f, "the pre-tokenizer \"weird\" is not supported");
  f = with(5, raw_entry("x", 8, raw_text("")));
  f.entries[3] = raw_entry("tokenizer.ggml.tokens", 9, raw(8u) + one + raw_text(std::string(1025, 'a')));
  expect_error(f, "token 0 has 1025 bytes");
}

TEST(GgufVocabulary, WaysToCutHaveNames) {
  EXPECT_EQ(gguf_pre("llama3", "x").names[0], "llama-bpe");
  for (const char* name : {"gpt-2", "llama-bpe", "dbrx", "qwen2", "stablelm2", "smollm", "gpt-4o", "tekken",
                           "deepseek-coder", "seed-coder", "default"}) {
    const GgufPre& p = gguf_pre(name, "x");
    EXPECT_EQ(gguf_pre_name(p.normalizers, p.steps, p.ignore_merges), name);
  }
  EXPECT_EQ(gguf_pre_name({}, {SplitAtSpace{}}, false), "");
}

}  // namespace
}  // namespace tril::gguf_vocabulary_test
