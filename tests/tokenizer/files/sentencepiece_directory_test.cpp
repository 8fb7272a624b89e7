// Directories whose tokenizer is only a SentencePiece model.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/file.h"
#include "format/sentencepiece_file.h"
#include "support/golden_tokenizers.h"
#include "support/temporary.h"
#include "tokenizer/files/tokenizer.h"

namespace tril::sentencepiece_directory_test {
namespace {

using test::golden_directory, test::parsed;
using Ids = std::vector<std::int32_t>;

// The model's ids, renumbered by each family's rules.
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

}  // namespace
}  // namespace tril::sentencepiece_directory_test
