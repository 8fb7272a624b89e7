#include "tokenizer/files/tokenizer.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/file.h"
#include "base/rng.h"
#include "corpus/vocabulary.h"
#include "support/contains.h"
#include "support/error_of.h"
#include "support/paths.h"
#include "support/rounds.h"
#include "support/temporary.h"
#include "tokenizer/files/marian_tokenizer.h"
#include "tokenizer/files/sentencepiece_directory.h"
#include "tokenizer/models/piece_table.h"
#include "unicode/trim.h"

namespace tril::tokenizer_test {
namespace {

using Ids = std::vector<std::int32_t>;

std::string test_file(const std::string& name) {
  return test::test_dir() + "/" + name;
}
std::string golden(const std::string& model) {
  return test_file("golden/hf/tokenizers/" + model);
}
nlohmann::json read_json(const std::string& path) {
  return nlohmann::json::parse(read_text(path, 1 << 24));
}

std::shared_ptr<const Tokenizer> tokenizer_of(const std::string& model) {
  const std::string spm = read_sentencepiece(golden(model) + "/spm.model");
  return make_marian_tokenizer({.source_spm = spm, .target_spm = spm, .source_lang = "en", .target_lang = "de"});
}

// A directory of tests/tokenizer/files/marian_cases, with the SentencePiece models that made it.
void fill(const TemporaryDirectory& at, const std::string& name) {
  std::filesystem::copy(test_file("tokenizer/files/marian_cases/" + name), at.path(),
                        std::filesystem::copy_options::recursive);
  std::filesystem::copy_file(golden("spm_bpe") + "/spm.model", at.path("source.spm"));
  std::filesystem::copy_file(golden("spm_unigram") + "/spm.model", at.path("target.spm"));
}

class Golden : public testing::TestWithParam<const char*> {};

TEST_P(Golden, CutsTextIntoTheSamePieces) {
  const auto tokenizer = tokenizer_of(GetParam());
  int cases = 0;
  for (const auto& c : read_json(golden(GetParam()) + "/cases.json")) {
    const auto text = c["text"].get<std::string>();
    if (contains(text, "</s>") || contains(text, "<unk>") || contains(text, "<pad>"))
      continue;  // special only to Marian
    Ids expected;
    bool unknown = false;
    for (const auto& piece : c["tokens"]) {
      const auto id = tokenizer->find(piece.get<std::string>(), Side::source);
      expected.push_back(id.value_or(1));
      unknown = unknown || expected.back() == 1;
    }
    const Ids ids = tokenizer->encode(text);
    EXPECT_EQ(ids, expected) << text;
    EXPECT_EQ(tokenizer->encode(text, Side::target), expected) << text;
    if (!unknown) {
      EXPECT_EQ(tokenizer->decode(ids), trim(c["decoded"].get<std::string>())) << text;
    }
    ++cases;
  }
  EXPECT_GT(cases, 50);
}
INSTANTIATE_TEST_SUITE_P(SentencePiece, Golden, testing::Values("spm_bpe", "spm_unigram"));

class MarianCases : public testing::TestWithParam<const char*> {};

TEST_P(MarianCases, EqualHuggingFace) {
  const TemporaryDirectory at;
  fill(at, GetParam());
  const auto tokenizer = load_tokenizer(at.path());
  const auto cases = read_json(at.path("cases.json"));
  for (const auto& c : cases["texts"]) {
    const auto text = c["text"].get<std::string>();
    EXPECT_EQ(tokenizer->encode(text, Side::source), c["source"].get<Ids>()) << text;
    EXPECT_EQ(tokenizer->encode(text, Side::target), c["target"].get<Ids>()) << text;
    EXPECT_EQ(tokenizer->decode(c["target"].get<Ids>()), c["decoded"].get<std::string>()) << text;
  }
  for (const auto& c : cases["ids"]) EXPECT_EQ(tokenizer->decode(c["ids"].get<Ids>()), c["decoded"].get<std::string>());
  EXPECT_EQ(tokenizer->shared_vocabulary(), std::string(GetParam()) == "joint");
}
INSTANTIATE_TEST_SUITE_P(Directories, MarianCases, testing::Values("joint", "separate"));

TEST(MarianTokenizer, NumbersPiecesInMariansOrder) {
  for (const char* model : {"spm_bpe", "spm_unigram"}) {
    const auto tokenizer = tokenizer_of(model);
    const std::int32_t size = tokenizer->size(Side::source);
    EXPECT_EQ(tokenizer->piece(0, Side::source), "</s>");
    EXPECT_EQ(tokenizer->piece(1, Side::source), "<unk>");
    EXPECT_EQ(tokenizer->piece(size - 1, Side::source), "<pad>");
    EXPECT_EQ(tokenizer->special(Side::target),
              (SpecialIds{.pad = size - 1, .eos = 0, .unk = 1, .decoder_start = size - 1}));
    for (std::int32_t id = 0; id < size; ++id)
      EXPECT_EQ(tokenizer->find(tokenizer->piece(id, Side::source), Side::source), id);
    EXPECT_TRUE(contains(error_of([&] { tokenizer->piece(size, Side::source); }), "outside the vocabulary"));
    EXPECT_TRUE(contains(error_of([&] { tokenizer->decode(Ids{-1}); }), "outside the vocabulary"));
    EXPECT_EQ(tokenizer->decode(Ids{0, 1, size - 1, 0}), "");
  }
}

TEST(MarianTokenizer, SurvivesADirectory) {
  for (const bool separate : {false, true}) {
    const TemporaryDirectory at;
    const auto made = make_marian_tokenizer({.source_spm = read_sentencepiece(golden("spm_bpe") + "/spm.model"),
                                             .target_spm = read_sentencepiece(golden("spm_unigram") + "/spm.model"),
                                             .separate_vocabularies = separate,
                                             .source_lang = "en",
                                             .target_lang = "de",
                                             .model_max_length = 300});
    save_tokenizer(*made, at.path("model"));
    const auto loaded = load_tokenizer(at.path("model"));
    EXPECT_EQ(loaded->model_max_length(), 300);
    EXPECT_EQ(loaded->shared_vocabulary(), !separate);
    for (const Side side : {Side::source, Side::target}) {
      ASSERT_EQ(loaded->size(side), made->size(side));
      EXPECT_EQ(loaded->special(side), made->special(side));
      for (std::int32_t id = 0; id < made->size(side); ++id) EXPECT_EQ(loaded->piece(id, side), made->piece(id, side));
      EXPECT_EQ(loaded->encode("the old fox \u6f22 >>de<<", side), made->encode("the old fox \u6f22 >>de<<", side));
    }
    for (const auto& entry : std::filesystem::directory_iterator(at.path("model")))
      EXPECT_TRUE(!contains(entry.path().filename().string(), "tmp")) << entry.path();
  }
}

TEST(MarianTokenizer, NamesWhatIsWrongWithADirectory) {
  EXPECT_TRUE(contains(error_of([] { load_tokenizer("/nowhere/at/all"); }), "not a directory"));
  const auto error_with = [](const std::string& name, const std::string& bytes) {
    const TemporaryDirectory at;
    fill(at, "separate");
    at.write(name, bytes);
    return error_of([&] { load_tokenizer(at.path()); });
  };
  EXPECT_TRUE(contains(error_with("target.spm", ""), "target.spm: is empty"));
  EXPECT_TRUE(contains(error_with("source.spm", "no model"), "source.spm: is not a SentencePiece model"));
  EXPECT_TRUE(contains(error_with("vocab.json", "[1]"), "vocab.json: is not a JSON object"));
  EXPECT_TRUE(contains(error_with("vocab.json", "{\"</s>\": 0, \"<unk>\""), "vocab.json: is not a JSON object"));
  EXPECT_TRUE(contains(error_with("vocab.json", R"({"</s>": 0, "<pad>": 2})"), "has no \"<unk>\""));
  EXPECT_TRUE(contains(error_with("vocab.json", R"({"</s>": 0, "<unk>": 1, "<pad>": 1})"), "same id 1"));
  EXPECT_TRUE(contains(error_with("vocab.json", R"({"</s>": 0, "<unk>": -1})"), "is -1, expected"));
  EXPECT_TRUE(contains(error_with("vocab.json", R"({"</s>": 0, "<unk>": 4000000000})"), "is 4000000000, expected"));
  EXPECT_TRUE(contains(error_with("vocab.json", R"({"</s>": 0, "<unk>": 1.5})"), "is 1.5, expected"));
  EXPECT_TRUE(contains(error_with("tokenizer_config.json", "{"), "tokenizer_config.json: is not a JSON object"));
  for (const char* name : {"source.spm", "target.spm", "vocab.json", "target_vocab.json"}) {
    const TemporaryDirectory at;
    fill(at, "separate");
    std::filesystem::remove(at.path(name));
    EXPECT_TRUE(contains(error_of([&] { load_tokenizer(at.path()); }), name)) << name;
  }
}

// Leftovers of a checkout without git-lfs and of an emptied download cache, in place of any file, required or
// not.
TEST(TokenizerFiles, ThatWereNotFetchedAreNamed) {
  const auto refused = [](const TemporaryDirectory& at, const std::string& name) {
    const std::string path = at.path(name), kept = at.path("kept");
    std::filesystem::rename(path, kept);
    at.write(name, "version https://git-lfs.github.com/spec/v1\noid sha256:0123\nsize 77\n");
    std::string error = error_of([&] { load_tokenizer(at.path()); });
    EXPECT_TRUE(contains(error, name) && contains(error, "(77 bytes) was not fetched")) << name << ": " << error;
    std::filesystem::remove(path);
    std::filesystem::create_symlink("../blobs/0123", path);
    error = error_of([&] { load_tokenizer(at.path()); });
    EXPECT_TRUE(contains(error, name) && contains(error, "link to ../blobs/0123")) << name << ": " << error;
    std::filesystem::remove(path);
    std::filesystem::rename(kept, path);
  };
  const TemporaryDirectory marian;
  fill(marian, "joint");
  for (const char* name : {"source.spm", "target.spm", "vocab.json", "tokenizer_config.json"}) refused(marian, name);
  const std::string golden = test::test_dir() + "/golden/hf/tokenizers/";
  const TemporaryDirectory fast, sentencepiece;
  fast.write("tokenizer.json", read_text(golden + "bytelevel_gpt2/tokenizer.json", 1 << 28));
  sentencepiece.write("tokenizer.model", read_text(golden + "spm_bpe/spm.model", 1 << 28));
  for (const TemporaryDirectory* at : {&fast, &sentencepiece})
    for (const char* name :
         {"tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "chat_template.jinja"}) {
      at->write(name, "{}");
      refused(*at, name);
    }
  refused(fast, "tokenizer.json");
  refused(sentencepiece, "tokenizer.model");
}

// A vocabulary for a new language model: the same as the tokenizer.model of a directory.
TEST(Tokenizer, ASentencePieceModelAloneIsLlamas) {
  for (const char* name : {"spm_bpe", "spm_unigram"}) {
    const std::string model = test::test_dir() + "/golden/hf/tokenizers/" + name + "/spm.model";
    const TemporaryDirectory at;
    at.write("tokenizer.model", read_text(model, 1 << 28));
    TokenizerDescription d = describe_sentencepiece_model(model);
    const auto alone = make_pipeline_tokenizer(std::move(d.parts), std::move(d.settings));
    const auto in_directory = load_tokenizer(at.path());
    for (const char* text : {"The quick  brown fox.",
                             " \xc3\x9c"
                             "ber ",
                             "<s>"})
      EXPECT_EQ(alone->encode(text), in_directory->encode(text)) << name << ": " << text;
    EXPECT_EQ(alone->special(Side::target), in_directory->special(Side::target));
    EXPECT_EQ(alone->frame(Side::target).prefix, in_directory->frame(Side::target).prefix);
    const TemporaryDirectory saved;
    save_tokenizer(*alone, saved.path());
    EXPECT_EQ(load_tokenizer(saved.path())->encode("The fox"), in_directory->encode("The fox"));
  }
}

// Processors of older directories with pictures keep the template in chat_template.json; other files are newer.
TEST(Tokenizer, ChatTemplateMayHaveAFileOfItsOwn) {
  const std::string golden = test::test_dir() + "/golden/hf/tokenizers/";
  const TemporaryDirectory at;
  at.write("tokenizer.json", read_text(golden + "bytelevel_gpt2/tokenizer.json", 1 << 28));
  at.write("chat_template.json", R"({"chat_template": "of json"})");
  EXPECT_EQ(load_tokenizer(at.path())->chat_template("default"), "of json");
  at.write("processor_config.json", R"({"image_seq_len": 64})");
  EXPECT_EQ(load_tokenizer(at.path())->chat_template("default"), "of json");
  at.write("processor_config.json", R"({"chat_template": "of processor"})");
  EXPECT_EQ(load_tokenizer(at.path())->chat_template("default"), "of processor");
  const TemporaryDirectory saved;  // without pictures there is no processor
  save_tokenizer(*load_tokenizer(at.path()), saved.path());
  EXPECT_EQ(read_text(saved.path() + "/chat_template.jinja", 1 << 10), "of processor");
  at.write("tokenizer_config.json", R"({"chat_template": "of config"})");
  EXPECT_EQ(load_tokenizer(at.path())->chat_template("default"), "of config");
  at.write("chat_template.jinja", "of jinja");
  EXPECT_EQ(load_tokenizer(at.path())->chat_template("default"), "of jinja");
  at.write("chat_template.json", "[");
  EXPECT_EQ(load_tokenizer(at.path())->chat_template("default"), "of jinja");
}

// As in transformers, the files replace all templates of tokenizer_config.json.
TEST(Tokenizer, NamedChatTemplatesMayHaveFilesOfTheirOwn) {
  const std::string golden = test::test_dir() + "/golden/hf/tokenizers/";
  const TemporaryDirectory at;
  at.write("tokenizer.json", read_text(golden + "bytelevel_gpt2/tokenizer.json", 1 << 28));
  at.write("tokenizer_config.json", R"({"chat_template": [{"name": "default", "template": "old"},
                                                         {"name": "rag", "template": "old rag"}]})");
  EXPECT_EQ(load_tokenizer(at.path())->chat_template("rag"), "old rag");
  std::filesystem::create_directory(at.path() + "/chat_templates");
  at.write("chat_templates/tool_use.jinja", "of tools");
  at.write("chat_template.jinja", "of jinja");
  const auto tokenizer = load_tokenizer(at.path());
  EXPECT_EQ(tokenizer->chat_template(), "of jinja");
  EXPECT_EQ(tokenizer->chat_template("tool_use"), "of tools");
  EXPECT_EQ(tokenizer->chat_template("rag"), std::nullopt);
  const TemporaryDirectory saved;
  save_tokenizer(*tokenizer, saved.path());
  EXPECT_EQ(load_tokenizer(saved.path())->chat_template("tool_use"), "of tools");
  at.write("chat_templates/default.jinja", "another");
  EXPECT_TRUE(contains(error_of([&] { load_tokenizer(at.path()); }), "default.jinja", "chat_template.jinja too"));
}

TEST(MarianTokenizer, CleansUpSpacesWhereAsked) {
  const TemporaryDirectory at;
  fill(at, "joint");
  at.write("tokenizer_config.json", R"({"clean_up_tokenization_spaces": true, "model_max_length": 1e30})");
  const auto tokenizer = load_tokenizer(at.path());
  EXPECT_EQ(tokenizer->decode(tokenizer->encode("the fox . the fox ?", Side::source)), "the fox. the fox?");
  EXPECT_GT(tokenizer->model_max_length(), 1'000'000);
}

TEST(MarianTokenizer, ServesManyThreads) {
  const auto tokenizer = tokenizer_of("spm_unigram");
  const std::string text = "the quick fox runs over the old book and the translation";
  const Ids expected = tokenizer->encode(text);
  std::vector<std::thread> threads;
  std::atomic<int> different = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i)
        if (tokenizer->encode(text) != expected || tokenizer->decode(expected) != text) ++different;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(different, 0);
}

// Every mutated model is refused or still encodes and decodes.
TEST(SentencePieceModel, SurvivesMutatedBytes) {
  const std::string model = read_text(golden("spm_bpe") + "/spm.model", 1 << 24);
  std::uint64_t refused = 0;
  const std::uint64_t models = test::rounds(1'000, [&](RandomSequence& random) {
    std::string bytes = model;
    for (std::uint64_t n = 1 + random.below(6); n > 0; --n) {
      const std::size_t position = random.below(bytes.size());
      if (random.below(30) == 0)
        bytes.resize(position + 1);
      else
        bytes[position] = static_cast<char>(random.below(256));
    }
    try {
      const auto tokenizer = make_marian_tokenizer({.source_spm = bytes, .target_spm = bytes});
      tokenizer->decode(tokenizer->encode("the quick fox runs \u6f22"));
    } catch (const Error&) {
      ++refused;
    }
  });
  EXPECT_GT(refused, models / 2);
  EXPECT_LT(refused, models);
}

TEST(PieceTable, NestedJsonCostsNoStack) {
  const std::string deep = R"({"a":)" + std::string(300'000, '[') + std::string(300'000, ']') + "}";
  EXPECT_TRUE(contains(error_of([&] { PieceTable::parse(deep, "here"); }), "the id of \"a\" is array, expected"));
}

TEST(PieceTable, SurvivesMutatedJson) {
  const std::string json = R"({"</s>": 0, "<unk>": 1, "\u2581the": 2, "fox": 3, "ä": 4, "<pad>": 5})";
  EXPECT_EQ(PieceTable::parse(json, "here").size(), 6);
  test::rounds(5'000, [&](RandomSequence& random) {
    std::string bytes = json;
    for (std::uint64_t n = 1 + random.below(3); n > 0; --n)
      bytes[random.below(bytes.size())] =
          static_cast<char>(random.below(2) ? '0' + random.below(80) : random.below(256));
    try {
      const PieceTable table = PieceTable::parse(bytes, "here");
      ASSERT_LE(table.size(), 200'000);
      ASSERT_EQ(PieceTable::parse(table.json(), "again").size(), table.size());
    } catch (const Error&) {
    }
  });
}

}  // namespace
}  // namespace tril::tokenizer_test
