// Byte-level BPE beside the `tokenizers` library (make_byte_vocabulary.py): the same pieces, merges and ids.
#include "corpus/byte_vocabulary.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "support/file_text.h"
#include "support/paths.h"
#include "support/temporary.h"
#include "tokenizer/models/bpe_trainer.h"

namespace tril::byte_vocabulary_test {
namespace {

const std::string golden = test::test_dir() + "/corpus/byte_vocabulary/";

nlohmann::json written_model(const Tokenizer& tokenizer) {
  for (const TokenizerFile& file : tokenizer.files())
    if (file.name == "tokenizer.json") return nlohmann::json::parse(file.bytes).at("model");
  return {};
}

class AsTokenizers : public ::testing::TestWithParam<const char*> {};

TEST_P(AsTokenizers, PiecesMergesAndIds) {
  const nlohmann::json g = nlohmann::json::parse(file_text(golden + GetParam() + ".json"));
  const auto tokenizer = train_byte_tokenizer({{golden + "text.txt"}}, {.size = g.at("size"),
                                                                        .min_frequency = g.at("min_frequency"),
                                                                        .symbols = g.at("symbols"),
                                                                        .split_digits = g.at("split_digits")});
  const auto pieces = g.at("pieces").get<std::vector<std::string>>();
  ASSERT_EQ(tokenizer->size(Side::target), std::ssize(pieces));
  for (std::size_t id = 0; id < pieces.size(); ++id)
    EXPECT_EQ(tokenizer->piece(static_cast<std::int32_t>(id), Side::target), pieces[id]);
  std::vector<std::string> merges;
  const nlohmann::json model = written_model(*tokenizer);
  for (const auto& merge : model.at("merges"))
    merges.push_back(merge.at(0).get<std::string>() + " " + merge.at(1).get<std::string>());
  EXPECT_EQ(merges, g.at("merges").get<std::vector<std::string>>());
  const std::string text = file_text(golden + "text.txt");
  const std::vector<std::int32_t> ids = tokenizer->encode(text);
  EXPECT_EQ(ids, g.at("ids").get<std::vector<std::int32_t>>());
  EXPECT_EQ(tokenizer->decode(ids), text);

  const TemporaryDirectory dir;
  save_tokenizer(*tokenizer, dir.path());
  const auto again = load_tokenizer(dir.path());
  EXPECT_EQ(again->encode(text), ids);
  EXPECT_EQ(again->special(Side::target).eos, 0);
  EXPECT_EQ(again->special(Side::target).bos, 0);
}

INSTANTIATE_TEST_SUITE_P(Cases, AsTokenizers, ::testing::Values("plain", "all_pairs", "digits_and_symbols"));

// "ab" is made of a, b before "abab" is; ties go to smaller ids, and a pair that overlaps itself is counted as it stands.
TEST(TrainBpe, MergesByFrequencyThenById) {
  WordCounts words;
  for (const char* word : {"abab", "abab", "aaa", "cd", "cd"}) words.add(word);
  const LearnedBpe learned = train_bpe(words, {.size = 1000, .min_frequency = 2, .special = {"<end>"}});
  EXPECT_EQ(learned.pieces.front(), "<end>");
  const std::vector<std::string> found(learned.pieces.begin() + 257, learned.pieces.end());
  EXPECT_EQ(found, (std::vector<std::string>{"ab", "aa", "cd", "abab"}));
}

TEST(TrainByteTokenizer, TakesColumnsOfPairsAndSkipsWhatIsInvalid) {
  const TemporaryDirectory dir;
  const std::string pairs = dir.write("pairs", "aa aa\tbb bb\naa\tbb\n"), left = dir.write("left", "aa aa\naa\n");
  EXPECT_EQ(train_byte_tokenizer({{pairs, 0}}, {})->encode("aa bb"),
            train_byte_tokenizer({{left}}, {})->encode("aa bb"));
  const std::string broken = dir.write("broken",
                                       "aa aa\nb\xff"
                                       "b\naa\n");
  EXPECT_EQ(error_of([&] { train_byte_tokenizer({{broken}}, {}); }),
            broken + ": line 2: is not valid UTF-8; fix it, or pass `skip_invalid`");
  EXPECT_EQ(train_byte_tokenizer({{broken}}, {.skip_invalid = true})->encode("aa aa"),
            train_byte_tokenizer({{left}}, {})->encode("aa aa"));
}

TEST(TrainByteTokenizer, SaysWhatItCannotLearn) {
  const TemporaryDirectory dir;
  const std::string text = dir.write("text", "some text\n"), empty = dir.write("empty", "");
  const auto says = [](const std::string& file, const ByteVocabularyOptions& options, const std::string& part) {
    const std::string e = error_of([&] { train_byte_tokenizer({{file}}, options); });
    EXPECT_TRUE(contains(e, part)) << e;
  };
  says(text, {.size = 256}, "size: 256 is too small");
  says(text, {.size = 258, .symbols = {"a", "b"}}, "2 symbols and 256 bytes are 259 pieces");
  says(text, {.symbols = {"a", "a"}}, "'a' is already a piece");
  says(text, {.symbols = {"<|endoftext|>"}}, "is already a piece");
  says(empty, {}, "the files have no text");
  says(dir.path("none"), {}, "none");
  says(dir.write("short", "no tab\n"), {}, "");
  EXPECT_TRUE(contains(error_of([&] { train_byte_tokenizer({{text, 1}}, {}); }), "line 1: has no column 2"));
}

}  // namespace
}  // namespace tril::byte_vocabulary_test
