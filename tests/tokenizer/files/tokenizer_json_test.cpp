// tokenizer.json: ids, pieces and text equal to Hugging Face's library, and damaged files.
#include "tokenizer/files/tokenizer_json.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/rng.h"
#include "format/sentencepiece_file.h"
#include "support/paths.h"
#include "support/temporary.h"
#include "tokenizer/pipeline/regex.h"
#include "tokenizer/pipeline/word_patterns.h"

namespace tril::tokenizer_json_test {
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

// Directories with only a SentencePiece model: the model's ids, renumbered by each family's rules.
class SentencePieceDirectory : public testing::Test {
 protected:
  std::shared_ptr<const Tokenizer> load(const char* model, const std::string& file, const nlohmann::json& config) {
    directory_.emplace();
    directory_->write(file, read_text(golden_directory(model) + "/spm.model", 1 << 28));
    if (!config.is_null()) directory_->write("tokenizer_config.json", config.dump());
    if (!vocab.is_null()) directory_->write("vocab.json", vocab.dump());
    return load_tokenizer(directory_->path());
  }

  // Checks every case of the model, with `renumber` applied to each id.
  template <class Renumber>
  void expect_ids(const Tokenizer& tokenizer, const char* model, const Renumber& renumber) {
    int compared = 0;
    for (const auto& c : parsed(golden_directory(model) + "/cases.json")) {
      const auto text = c["text"].get<std::string>();
      if (contains(text, "<") || contains(text, "__")) continue;  // might spell the family's own tokens
      Ids expected;
      for (std::int32_t id : c["ids"].get<Ids>()) expected.push_back(renumber(id));
      EXPECT_EQ(tokenizer.encode(text), expected) << text;
      ++compared;
    }
    EXPECT_GT(compared, 40);
  }

  SentencePieceFile model_file(const char* model) {
    return read_sentencepiece_file(read_text(golden_directory(model) + "/spm.model", 1 << 28));
  }

  nlohmann::json vocab;
  std::optional<TemporaryDirectory> directory_;
};

TEST_F(SentencePieceDirectory, T5HasItsSentinelsBehindTheModel) {
  const auto t = load("spm_unigram", "spiece.model", nullptr);
  const auto size = static_cast<std::int32_t>(model_file("spm_unigram").pieces.size());
  expect_ids(*t, "spm_unigram", [](std::int32_t id) { return id; });
  EXPECT_EQ(t->size(Side::source), size + 100);
  EXPECT_EQ(t->encode("<extra_id_0>"), Ids{size + 99});
  EXPECT_EQ(t->encode("<extra_id_99>"), Ids{size});
  EXPECT_EQ(t->frame(Side::source).suffix, Ids{t->special(Side::source).eos});
  const TemporaryDirectory again;
  save_tokenizer(*t, again.path());
  EXPECT_EQ(load_tokenizer(again.path())->encode("Hello"), t->encode("Hello"));
}

TEST_F(SentencePieceDirectory, LlamaBeginsATextAndKeepsTheIds) {
  const auto t = load("spm_bpe", "tokenizer.model", nullptr);
  expect_ids(*t, "spm_bpe", [](std::int32_t id) { return id; });
  EXPECT_EQ(t->frame(Side::source).prefix, Ids{t->special(Side::source).bos});
  EXPECT_EQ(t->decode(t->encode("Hello  there, \u4e16!")), "Hello  there, \u4e16!");
}

TEST_F(SentencePieceDirectory, TokensThatAFineTuneAddedAreThereAsFarAsTheModelHasRows) {
  const auto size = static_cast<std::int32_t>(model_file("spm_bpe").pieces.size());
  const std::string end = "<|im_end|>", tool = "<tool>", pad = "[PAD]";
  const auto expect_added = [&](const Tokenizer& t) {
    EXPECT_EQ(t.encode(end + tool), (Ids{size, size + 1}));
    EXPECT_EQ(t.special(Side::target).eos, size);
    EXPECT_EQ(t.decode(Ids{size, size + 1}, Side::target), tool);
    Ids around = t.encode("Hello");
    around.push_back(size);
    EXPECT_EQ(t.encode("Hello" + end), around);
  };
  nlohmann::json config = {{"eos_token", end}};
  load("spm_bpe", "tokenizer.model", config);
  directory_->write("added_tokens.json", nlohmann::json({{pad, size + 2}, {tool, size + 1}, {end, size}}).dump());
  const auto all = load_tokenizer(directory_->path());
  expect_added(*all);
  EXPECT_EQ(all->size(Side::target), size + 3);
  directory_->write("config.json", nlohmann::json({{"vocab_size", size + 2}}).dump());
  const auto rows = load_tokenizer(directory_->path());
  expect_added(*rows);
  EXPECT_EQ(rows->size(Side::target), size + 2);  // "[PAD]" has no row in the model
  const TemporaryDirectory again;
  save_tokenizer(*rows, again.path());
  expect_added(*load_tokenizer(again.path()));
  config["added_tokens_decoder"][std::to_string(size)] = {{"content", end}, {"special", true}};
  config["added_tokens_decoder"][std::to_string(size + 1)] = {{"content", tool}, {"special", false}};
  expect_added(*load("spm_bpe", "tokenizer.model", config));
  directory_->write("added_tokens.json", nlohmann::json({{pad, size + 2}}).dump());  // the older of the two files
  EXPECT_EQ(load_tokenizer(directory_->path())->size(Side::target), size + 2);
}

TEST_F(SentencePieceDirectory, AnAddedTokenOfAnotherIdThanThePieceIsRefused) {
  const auto config = nlohmann::json{{"added_tokens_decoder", {{"7", {{"content", "</s>"}}}}}};
  EXPECT_TRUE(contains(error_of([&] { load("spm_bpe", "tokenizer.model", config); }), "\"</s>\""));
}

TEST_F(SentencePieceDirectory, PegasusCountsFrom103) {
  const auto t = load("spm_unigram", "spiece.model", {{"tokenizer_class", "PegasusTokenizer"}});
  expect_ids(*t, "spm_unigram", [](std::int32_t id) { return id + 103; });
  EXPECT_EQ(t->special(Side::source).pad, 0);
  EXPECT_EQ(t->special(Side::source).eos, 1);
  EXPECT_EQ(t->encode("<mask_1>"), Ids{2});
  EXPECT_EQ(t->encode("<unk_2>"), Ids{4});
  EXPECT_EQ(t->encode("<unk_102>"), Ids{104});
}

TEST_F(SentencePieceDirectory, FairseqsFamiliesCountOneFurtherAndHaveLanguages) {
  const SentencePieceFile model = model_file("spm_unigram");
  const auto size = static_cast<std::int32_t>(model.pieces.size());
  const auto renumber = [&](std::int32_t id) {
    return model.pieces[static_cast<std::size_t>(id)].type == PieceType::unknown ? 3 : id + 1;
  };
  const auto mbart = load("spm_unigram", "sentencepiece.bpe.model", {{"tokenizer_class", "MBartTokenizer"}});
  expect_ids(*mbart, "spm_unigram", renumber);
  EXPECT_EQ(mbart->languages().size(), 25u);
  EXPECT_EQ(mbart->language_id("ar_AR"), size + 1);
  EXPECT_EQ(mbart->encode("<mask>"), Ids{size + 26});
  EXPECT_EQ(mbart->frame(Side::source, "de_DE").suffix, (Ids{2, size + 3}));
  EXPECT_EQ(mbart->frame(Side::source).suffix, (Ids{2, mbart->language_id("en_XX")}));
  const auto mbart50 = load("spm_unigram", "sentencepiece.bpe.model",
                            {{"tokenizer_class", "MBart50Tokenizer"}, {"src_lang", "fr_XX"}, {"tgt_lang", "sl_SI"}});
  EXPECT_EQ(mbart50->frame(Side::source).prefix, Ids{size + 8});
  EXPECT_EQ(mbart50->frame(Side::target).prefix, Ids{size + 52});
  EXPECT_EQ(mbart50->frame(Side::target).suffix, Ids{2});
  const auto nllb = load("spm_unigram", "sentencepiece.bpe.model", {{"tokenizer_class", "NllbTokenizer"}});
  EXPECT_EQ(nllb->language_id("ace_Arab"), size + 1);
  EXPECT_TRUE(contains(error_of([&] { nllb->language_id("deu_Latin"); }), "deu_Latn"));
}

TEST_F(SentencePieceDirectory, M2M100NumbersPiecesByVocabJson) {
  const SentencePieceFile model = model_file("spm_unigram");
  vocab = {{"<s>", 0}, {"<pad>", 1}, {"</s>", 2}, {"<unk>", 3}};
  for (std::size_t i = model.pieces.size(); i-- > 0;)  // in reverse, so that the order matters
    if (model.pieces[i].type == PieceType::normal && i % 7 != 0) vocab[model.pieces[i].text] = vocab.size();
  const auto t = load("spm_unigram", "sentencepiece.bpe.model", {{"tokenizer_class", "M2M100Tokenizer"}});
  expect_ids(*t, "spm_unigram",
             [&](std::int32_t id) { return vocab.value(model.pieces[static_cast<std::size_t>(id)].text, 3); });
  EXPECT_EQ(t->languages().size(), 100u);
  EXPECT_EQ(t->language_id("af"), static_cast<std::int32_t>(vocab.size()));
  EXPECT_EQ(t->encode("__af__"), Ids{t->language_id("af")});
  EXPECT_EQ(t->frame(Side::source, "de").prefix, Ids{t->language_id("de")});
}

// If no file names the class, transformers takes that of the model's family.
TEST_F(SentencePieceDirectory, TheFamilyIsThatOfTheModelWhereNoFileSaysIt) {
  load("spm_unigram", "sentencepiece.bpe.model", {{"tokenizer_class", "MBartTokenizer"}});
  std::filesystem::remove(directory_->path("tokenizer_config.json"));
  EXPECT_NE(error_of([&] { load_tokenizer(directory_->path()); }), "");
  directory_->write("config.json", R"({"model_type": "mbart"})");
  EXPECT_EQ(load_tokenizer(directory_->path())->languages().size(), 25u);
  directory_->write("config.json", R"({"model_type": "mbart", "tokenizer_class": "MBart50Tokenizer"})");
  EXPECT_EQ(load_tokenizer(directory_->path())->languages().size(), 52u);
}

// vocab.json has characters that the model lacks, single and in runs (make_m2m100_cases.py).
class M2M100Cases : public testing::TestWithParam<std::pair<const char*, std::string>> {};

TEST_P(M2M100Cases, EqualHuggingFace) {
  const auto& [name, model] = GetParam();
  const std::string cases = test::test_dir() + "/tokenizer/files/m2m100_cases/", from = cases + name + "/";
  const TemporaryDirectory at;
  at.write("sentencepiece.bpe.model",
           read_text(model.empty() ? cases + "bpe/sentencepiece.bpe.model" : model, 1 << 28));
  for (const char* file : {"vocab.json", "tokenizer_config.json"}) at.write(file, read_text(from + file, 1 << 28));
  const std::size_t languages = name == std::string("wmt21") ? 8 : 100;
  const auto check_all = [&](const Tokenizer& tokenizer) {
    const auto expected = parsed(from + "cases.json");
    for (const auto& c : expected["texts"]) {
      const auto text = c["text"].get<std::string>();
      EXPECT_EQ(tokenizer.encode(text), c["ids"].get<Ids>()) << text;
      EXPECT_EQ(tokenizer.encode(text), c["ids"].get<Ids>()) << "seen before: " << text;
      EXPECT_EQ(tokenizer.decode(c["ids"].get<Ids>()), c["decoded"].get<std::string>()) << text;
    }
    EXPECT_GT(expected["texts"].size(), 60u);
    for (const auto& [code, id] : expected["languages"].items()) EXPECT_EQ(tokenizer.language_id(code), id) << code;
    EXPECT_EQ(tokenizer.languages().size(), languages);
  };
  const auto tokenizer = load_tokenizer(at.path());
  check_all(*tokenizer);
  const TemporaryDirectory saved;  // as in a training directory
  save_tokenizer(*tokenizer, saved.path());
  check_all(*load_tokenizer(saved.path()));
}

INSTANTIATE_TEST_SUITE_P(All, M2M100Cases,
                         testing::Values(std::pair("bpe", std::string()), std::pair("wmt21", std::string()),
                                         std::pair("unigram", golden_directory("spm_unigram") + "/spm.model"),
                                         std::pair("bytes", golden_directory("spm_bpe") + "/spm.model")),
                         [](const auto& one) { return std::string(one.param.first); });

TEST_F(SentencePieceDirectory, AnUnknownListOfLanguagesIsRefused) {
  vocab = {{"<s>", 0}, {"<pad>", 1}, {"</s>", 2}, {"<unk>", 3}};
  const std::string error = error_of([&] {
    load("spm_unigram", "sentencepiece.bpe.model",
         {{"tokenizer_class", "M2M100Tokenizer"}, {"language_codes", "wmt22"}});
  });
  EXPECT_TRUE(contains(error, "\"wmt22\"") && contains(error, "m2m100 and wmt21")) << error;
}

TEST_F(SentencePieceDirectory, OtherFamiliesAreRefusedByName) {
  EXPECT_TRUE(contains(error_of([&] {
                         load("spm_bpe", "tokenizer.model", {{"tokenizer_class", "XLNetTokenizer"}});
                       }),
                       "XLNetTokenizer"));
  EXPECT_NE(error_of([&] { load("spm_bpe", "sentencepiece.bpe.model", nullptr); }), "");
}

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

// A damaged file is an error, or gives a working tokenizer.
TEST(TokenizerJson, DamagedFilesAreErrorsOrTokenizers) {
  RandomSequence random(5, 5);
  const std::string sample = "Hello, W\u00f6rld! 123\n\u4e16\u754c <s> \U0001f600  x";
  int worked = 0;
  for (const char* name : {"bpe_metaspace", "bytelevel_llama3", "unigram_t5"}) {
    nlohmann::json json = parsed(golden_directory(name) + "/tokenizer.json");
    for (const char* key : {"vocab", "merges"})  // a small one, so that damage hits the important parts
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
}  // namespace tril::tokenizer_json_test
